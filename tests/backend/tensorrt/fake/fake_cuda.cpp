// A libcuda.so.1 whose GPU is the host: memory is the host's, a stream runs what it is given at once, and a
// graph is a list of functions. FAKE_CUDA_BYTES is the size of its memory; FAKE_CUDA_GPUS how many there are.
// Copies between host and GPU are told in the file FAKE_CUDA_COPIES.
#include <cuda.h>

#undef cuEventElapsedTime

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

using Work = std::function<void()>;

struct CUstream_st {
  std::vector<Work>* capture = nullptr;
};
struct CUgraph_st {
  std::vector<Work> work;
};
struct CUgraphExec_st {
  std::vector<Work> work;
};
struct CUevent_st {
  std::chrono::steady_clock::time_point time;
};

namespace {

std::map<void*, size_t>& allocations() {
  static std::map<void*, size_t> all;
  return all;
}

size_t number(const char* name, size_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::stoull(text);
}

size_t used() {
  size_t sum = 0;
  for (const auto& [address, bytes] : allocations()) sum += bytes;
  return sum;
}

size_t total() { return number("FAKE_CUDA_BYTES", size_t{1} << 34); }

void submit(CUstream stream, Work work) {
  if (stream->capture != nullptr) return stream->capture->push_back(std::move(work));
  work();
}

CUresult copy(const char* direction, void* to, const void* from, size_t bytes, CUstream stream) {
  if (const char* file = std::getenv("FAKE_CUDA_COPIES"))
    std::ofstream(file, std::ios::app) << direction << ' ' << bytes << '\n';
  submit(stream, [=] { std::memcpy(to, from, bytes); });
  return CUDA_SUCCESS;
}

void* host(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

}  // namespace

/// For the fake TensorRT, whose kernels are functions.
extern "C" void fake_cuda_submit(CUstream stream, const Work* work) { submit(stream, *work); }

extern "C" {

CUresult cuInit(unsigned) { return number("FAKE_CUDA_GPUS", 1) == 0 ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS; }
CUresult cuDriverGetVersion(int* version) { return *version = 13000, CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice* device, int ordinal) { return *device = ordinal, CUDA_SUCCESS; }
CUresult cuDeviceGetCount(int* count) {
  return *count = static_cast<int>(number("FAKE_CUDA_GPUS", 1)), CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* text, int size, CUdevice) {
  std::strncpy(text, "Fake GPU", static_cast<size_t>(size));
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? 9
           : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? 0
                                                                       : 4096;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetPCIBusId(char* text, int size, CUdevice) {
  std::strncpy(text, "0000:1B:00.0", static_cast<size_t>(size));
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  static int place;
  return *context = reinterpret_cast<CUcontext>(&place), CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }
CUresult cuGetErrorString(CUresult result, const char** text) {
  *text = result == CUDA_ERROR_NO_DEVICE ? "no CUDA-capable device is detected" : "a fake error";
  return CUDA_SUCCESS;
}
CUresult cuMemGetInfo(size_t* free, size_t* all) {
  *all = total();
  *free = total() - std::min(used(), total());
  return CUDA_SUCCESS;
}
CUresult cuMemAlloc(CUdeviceptr* address, size_t bytes) {
  if (used() + bytes > total()) return CUDA_ERROR_OUT_OF_MEMORY;
  void* memory = std::malloc(bytes);
  allocations()[memory] = bytes;
  return *address = reinterpret_cast<CUdeviceptr>(memory), CUDA_SUCCESS;
}
CUresult cuMemFree(CUdeviceptr address) {
  allocations().erase(host(address));
  std::free(host(address));
  return CUDA_SUCCESS;
}
CUresult cuMemAllocHost(void** address, size_t bytes) { return *address = std::malloc(bytes), CUDA_SUCCESS; }
CUresult cuMemFreeHost(void* address) { return std::free(address), CUDA_SUCCESS; }
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return copy("to-device", host(to), from, bytes, stream);
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy("to-host", to, host(from), bytes, stream);
}
CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t bytes, CUstream stream) {
  submit(stream, [=] { std::memset(host(address), value, bytes); });
  return CUDA_SUCCESS;
}
CUresult cuStreamCreate(CUstream* stream, unsigned) { return *stream = new CUstream_st(), CUDA_SUCCESS; }
CUresult cuStreamDestroy(CUstream stream) { return delete stream, CUDA_SUCCESS; }
CUresult cuStreamSynchronize(CUstream) { return CUDA_SUCCESS; }
CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode) {
  return stream->capture = new std::vector<Work>(), CUDA_SUCCESS;
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  *graph = new CUgraph_st{std::move(*stream->capture)};
  delete stream->capture;
  return stream->capture = nullptr, CUDA_SUCCESS;
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph, unsigned long long) {
  return *executable = new CUgraphExec_st{graph->work}, CUDA_SUCCESS;
}
CUresult cuGraphLaunch(CUgraphExec executable, CUstream) {
  for (const Work& work : executable->work) work();
  return CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph graph) { return delete graph, CUDA_SUCCESS; }
CUresult cuGraphExecDestroy(CUgraphExec executable) { return delete executable, CUDA_SUCCESS; }
CUresult cuEventCreate(CUevent* event, unsigned) { return *event = new CUevent_st(), CUDA_SUCCESS; }
CUresult cuEventDestroy(CUevent event) { return delete event, CUDA_SUCCESS; }
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned) {
  submit(stream, [=] { event->time = std::chrono::steady_clock::now(); });
  return CUDA_SUCCESS;
}
CUresult cuEventSynchronize(CUevent) { return CUDA_SUCCESS; }
CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
  return CUDA_SUCCESS;
}

}  // extern "C"
