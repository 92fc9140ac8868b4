// See launch_call.hpp, and generated_cuda_meta.h of CUDA 13.0 for the parameters.
#include "trace/collect/plugin/launch_call.hpp"

#include <dlfcn.h>

namespace hone::trace::inject {
namespace {

/// Tests for the variants of calls for programs with one default stream per thread; their names say so.
bool is_of_thread(CUpti_CallbackId id) {
  return id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz ||
         id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz ||
         id == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz;
}

CUstream stream_of(CUpti_CallbackId id, const void* parameters) {
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
      return static_cast<const cuLaunchKernel_params*>(parameters)->hStream;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
      return static_cast<const cuLaunchKernel_ptsz_params*>(parameters)->hStream;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
      return static_cast<const cuLaunchKernelEx_params*>(parameters)->config->hStream;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
      return static_cast<const cuLaunchKernelEx_ptsz_params*>(parameters)->config->hStream;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
      return static_cast<const cuLaunchCooperativeKernel_params*>(parameters)->hStream;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
      return static_cast<const cuLaunchCooperativeKernel_ptsz_params*>(parameters)->hStream;
    default: return nullptr;
  }
}

using IsCapturing = CUresult (*)(CUstream stream, CUstreamCaptureStatus* status);

/// Finds a function of the driver that the process has loaded; null if the driver lacks it.
IsCapturing find_in_driver(const char* name) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return driver == nullptr ? nullptr : reinterpret_cast<IsCapturing>(dlsym(driver, name));
}

}  // namespace

std::vector<CUpti_CallbackId> launch_calls() {
  return {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
          CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
          CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
          CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
          CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
          CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
          CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernelMultiDevice,
          CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
          CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz};
}

bool is_graph_launch(CUpti_CallbackId id) {
  return id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch || id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz;
}

bool is_being_captured(CUpti_CallbackId id, const CUpti_CallbackData& call) {
  static const IsCapturing plain = find_in_driver("cuStreamIsCapturing");
  static const IsCapturing of_thread = find_in_driver("cuStreamIsCapturing_ptsz");
  const IsCapturing ask = is_of_thread(id) ? of_thread : plain;
  if (ask == nullptr || id == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernelMultiDevice) return false;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  // An error means that the default stream is part of the capture of another stream.
  return ask(stream_of(id, call.functionParams), &status) != CUDA_SUCCESS ||
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

}  // namespace hone::trace::inject
