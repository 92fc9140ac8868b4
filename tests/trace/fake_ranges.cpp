// The part of the stand-in for libcupti that measures kernels, and what launches them. It insists on the
// order of calls: enable, prepare data, configure, start, stop, decode, prepare data again. FAKE_CUPTI_RANGES
// makes it refuse ("denied"), fail when a kernel has run ("broken") or have no values ("empty").
#include <cupti.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>

#include <cstdlib>
#include <cstring>

extern "C" void fake_cupti_tell(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data);

namespace {

constexpr size_t kImageBytes = 16;

enum class State { kOff, kEnabled, kReady, kStarted, kStopped, kDecoded };

State state = State::kOff;
CUcontext measured = nullptr;  ///< the context that is enabled
bool data_ready = false;
size_t ranges = 0;     ///< since the last start
uint64_t kernels = 0;  ///< measured in all

bool is(const char* what) {
  const char* setting = std::getenv("FAKE_CUPTI_RANGES");
  return setting != nullptr && std::strcmp(setting, what) == 0;
}

CUptiResult go(State from, State to) {
  if (state != from) return CUPTI_ERROR_INVALID_OPERATION;
  state = to;
  return CUPTI_SUCCESS;
}

template <class T>
T pointer(uintptr_t number) {
  return reinterpret_cast<T>(number);
}

template <class Parameters>
void tell_both_sides(CUpti_CallbackId id, const char* kernel, uintptr_t context, const Parameters& parameters,
                     void (*run)(CUcontext)) {
  CUpti_CallbackData call{};
  call.functionParams = &parameters;
  call.symbolName = kernel;
  call.context = pointer<CUcontext>(context);
  call.callbackSite = CUPTI_API_ENTER;
  fake_cupti_tell(CUPTI_CB_DOMAIN_DRIVER_API, id, &call);
  run(call.context);
  call.callbackSite = CUPTI_API_EXIT;
  fake_cupti_tell(CUPTI_CB_DOMAIN_DRIVER_API, id, &call);
}

}  // namespace

uint64_t fake_cupti_kernels_before() { return kernels == 0 ? 0 : kernels - 1; }

extern "C" {

CUptiResult CUPTIAPI
cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params* params) {
  if (is("denied")) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  if (state != State::kOff) return CUPTI_ERROR_INVALID_OPERATION;
  params->counterAvailabilityImageSize = kImageBytes;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* params) {
  measured = params->ctx;
  params->pRangeProfilerObject = reinterpret_cast<CUpti_RangeProfiler_Object*>(&measured);
  return go(State::kOff, State::kEnabled);
}

CUptiResult CUPTIAPI cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params*) {
  data_ready = false;
  return go(State::kReady, State::kOff);
}

CUptiResult CUPTIAPI
cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* params) {
  params->counterDataSize = kImageBytes;
  return params->numMetrics > 0 && params->maxNumRangeTreeNodes >= params->maxNumOfRanges
             ? CUPTI_SUCCESS
             : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI
cuptiRangeProfilerCounterDataImageInitialize(CUpti_RangeProfiler_CounterDataImage_Initialize_Params* params) {
  data_ready = params->counterDataSize == kImageBytes;
  return state == State::kDecoded ? go(State::kDecoded, State::kReady) : CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* params) {
  const bool right = data_ready && params->configSize == kImageBytes && params->range == CUPTI_AutoRange &&
                     params->replayMode == CUPTI_KernelReplay && params->numNestingLevels == 1;
  return right ? go(State::kEnabled, State::kReady) : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params*) {
  ranges = 0;
  return data_ready ? go(State::kReady, State::kStarted) : CUPTI_ERROR_INVALID_OPERATION;
}

CUptiResult CUPTIAPI cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* params) {
  if (is("broken")) return CUPTI_ERROR_UNKNOWN;
  params->isAllPassSubmitted = 1;
  return go(State::kStarted, State::kStopped);
}

CUptiResult CUPTIAPI cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params*) {
  data_ready = false;
  return go(State::kStopped, State::kDecoded);
}

CUptiResult CUPTIAPI
cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params* params) {
  params->numTotalRanges = is("empty") ? 0 : ranges;
  return CUPTI_SUCCESS;
}

/// The driver's part when the program launches a kernel.
__attribute__((visibility("default"))) void fake_cupti_launch(const char* kernel, uintptr_t context,
                                                              uintptr_t stream) {
  cuLaunchKernel_params parameters{};
  parameters.hStream = pointer<CUstream>(stream);
  constexpr uintptr_t kCapturedStream = 7;
  const auto capture = [](CUcontext) {
    if (state == State::kStarted) std::abort();  // it would wait for the kernel, which breaks the capture
  };
  const auto run = [](CUcontext of) {
    if (state != State::kStarted || measured != of) return;
    ++ranges;
    ++kernels;
  };
  void (*const does)(CUcontext) = stream == kCapturedStream ? +capture : +run;
  tell_both_sides(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, kernel, context, parameters, does);
}

/// The driver's part when the program launches a graph. A profiler that is at work then would break it.
__attribute__((visibility("default"))) void fake_cupti_launch_graph() {
  tell_both_sides(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, nullptr, 1, cuGraphLaunch_params{}, [](CUcontext) {
    if (state == State::kStarted) std::abort();
  });
}

}  // extern "C"
