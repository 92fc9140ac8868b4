// The part of the stand-in for libcupti that samples counters: ten intervals of 100 us, three of them at a
// time, of a GPU that knows all counters but one and measures six of them in one pass. FAKE_CUPTI_COUNTERS
// makes it refuse ("denied"), lose some ("overflow") or fail ("unconfigured", "undecoded");
// FAKE_CUPTI_SAMPLING is a file to which it adds what is done to sampling.
#include <cupti.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

/// Measured by the range profiler (fake_ranges.cpp) before the one whose values are asked for.
uint64_t fake_cupti_kernels_before();

namespace {

constexpr size_t kImageBytes = 16;
constexpr uint64_t kIntervalNs = 100'000;
constexpr uint64_t kSamples = 10;
constexpr uint64_t kAtOnce = 3;

size_t chosen = 0;
uint64_t begin_ns = 0;
uint64_t taken = 0;  ///< samples handed out before this decoding
uint64_t held = 0;   ///< samples of this decoding

bool is(const char* what) {
  const char* setting = std::getenv("FAKE_CUPTI_COUNTERS");
  return setting != nullptr && std::strcmp(setting, what) == 0;
}

bool gone = false;

/// Like the library that CUPTI loads for counters, it is there until the process ends what it began before.
void load_library() {
  [[maybe_unused]] static const int once = std::atexit([] { gone = true; });
}

CUptiResult log_step(const char* step) {
  const char* path = std::getenv("FAKE_CUPTI_SAMPLING");
  std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "a");
  if (file == nullptr) return CUPTI_SUCCESS;
  std::fprintf(file, "%s%s\n", gone ? "late-" : "", step);
  std::fclose(file);
  return CUPTI_SUCCESS;
}

}  // namespace

extern "C" {

CUptiResult CUPTIAPI cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params*) { return CUPTI_SUCCESS; }

CUptiResult CUPTIAPI cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* params) {
  params->pChipName = "GH100";
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiPmSamplingGetCounterAvailability(CUpti_PmSampling_GetCounterAvailability_Params* params) {
  load_library();
  if (is("denied")) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  params->counterAvailabilityImageSize = kImageBytes;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* params) {
  params->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(&chosen);
  return params->profilerType < CUPTI_PROFILER_TYPE_PROFILER_INVALID ? CUPTI_SUCCESS
                                                                     : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params*) {
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* params) {
  for (size_t i = 0; i < params->numMetrics; ++i) {
    if (std::strcmp(params->ppMetricNames[i], "dram__bytes_write.sum") == 0)
      return CUPTI_ERROR_INVALID_METRIC_NAME;
  }
  chosen = params->numMetrics;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* params) {
  params->configImageSize = kImageBytes;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* params) {
  return params->configImageSize == kImageBytes ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* params) {
  constexpr size_t kCountersInAPass = 6;
  params->numOfPasses = (chosen + kCountersInAPass - 1) / kCountersInAPass;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiPmSamplingEnable(CUpti_PmSampling_Enable_Params* params) {
  params->pPmSamplingObject = reinterpret_cast<CUpti_PmSampling_Object*>(&taken);
  return log_step("enable");
}

CUptiResult CUPTIAPI cuptiPmSamplingDisable(CUpti_PmSampling_Disable_Params* params) {
  const bool right = params->pPmSamplingObject == reinterpret_cast<CUpti_PmSampling_Object*>(&taken);
  return log_step(right ? "disable" : "disable something else");
}

CUptiResult CUPTIAPI cuptiPmSamplingSetConfig(CUpti_PmSampling_SetConfig_Params* params) {
  const bool right = params->samplingInterval == kIntervalNs &&
                     params->triggerMode == CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL &&
                     !is("unconfigured");
  return right ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiPmSamplingGetCounterDataSize(CUpti_PmSampling_GetCounterDataSize_Params* params) {
  params->counterDataSize = kImageBytes;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiPmSamplingCounterDataImageInitialize(CUpti_PmSampling_CounterDataImage_Initialize_Params*) {
  taken += held;
  held = 0;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiPmSamplingStart(CUpti_PmSampling_Start_Params*) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  begin_ns = static_cast<uint64_t>(now.tv_sec) * 1000000000U + static_cast<uint64_t>(now.tv_nsec);
  return log_step("start");
}

CUptiResult CUPTIAPI cuptiPmSamplingStop(CUpti_PmSampling_Stop_Params*) { return log_step("stop"); }

CUptiResult CUPTIAPI cuptiPmSamplingDecodeData(CUpti_PmSampling_DecodeData_Params* params) {
  if (is("undecoded")) return CUPTI_ERROR_UNKNOWN;
  held = std::min(kAtOnce, kSamples - taken);
  params->overflow = is("overflow") ? 1 : 0;
  params->decodeStopReason = taken + held == kSamples
                                 ? CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS
                                 : CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiPmSamplingGetCounterDataInfo(CUpti_PmSampling_GetCounterDataInfo_Params* params) {
  params->numCompletedSamples = held;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiPmSamplingCounterDataGetSampleInfo(CUpti_PmSampling_CounterData_GetSampleInfo_Params* params) {
  params->startTimestamp = begin_ns + (taken + params->sampleIndex) * kIntervalNs;
  params->endTimestamp = params->startTimestamp + kIntervalNs;
  return CUPTI_SUCCESS;
}

/// Bytes: 5 MB in a sample; all else: 10, 20, 30 per cent, as they were asked for. Kernels: 100 more for each
/// that was launched before.
CUptiResult CUPTIAPI
cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
  for (size_t i = 0; i < params->numMetrics; ++i) {
    const bool bytes = std::strstr(params->ppMetricNames[i], "bytes") != nullptr;
    params->pMetricValues[i] = bytes ? 5e6 : 10.0 * static_cast<double>(i + 1);
    params->pMetricValues[i] += 100.0 * static_cast<double>(fake_cupti_kernels_before());
  }
  return CUPTI_SUCCESS;
}

}  // extern "C"
