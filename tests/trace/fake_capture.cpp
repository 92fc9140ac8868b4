// A libcuda.so.1 that says of stream 7 that it is being captured into a graph.
#include <cuda.h>

extern "C" {

CUresult CUDAAPI cuInit(unsigned) { return CUDA_SUCCESS; }

CUresult CUDAAPI cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  constexpr unsigned long long kCaptured = 7;
  *status = reinterpret_cast<unsigned long long>(stream) == kCaptured ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                                                      : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

}  // extern "C"
