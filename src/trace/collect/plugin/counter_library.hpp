// The parts of CUPTI that read hardware counters. They are looked up only if counters are wanted, so that
// older versions of CUPTI can record without them.
#pragma once

#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <string>

namespace hone::trace::inject {

#define HONE_HOST_FUNCTIONS(X)           \
  X(cuptiProfilerInitialize)             \
  X(cuptiDeviceGetChipName)              \
  X(cuptiProfilerHostInitialize)         \
  X(cuptiProfilerHostDeinitialize)       \
  X(cuptiProfilerHostConfigAddMetrics)   \
  X(cuptiProfilerHostGetConfigImageSize) \
  X(cuptiProfilerHostGetConfigImage)     \
  X(cuptiProfilerHostGetNumOfPasses)     \
  X(cuptiProfilerHostEvaluateToGpuValues)

#define HONE_SAMPLING_FUNCTIONS(X)             \
  X(cuptiPmSamplingGetCounterAvailability)     \
  X(cuptiPmSamplingEnable)                     \
  X(cuptiPmSamplingDisable)                    \
  X(cuptiPmSamplingSetConfig)                  \
  X(cuptiPmSamplingGetCounterDataSize)         \
  X(cuptiPmSamplingCounterDataImageInitialize) \
  X(cuptiPmSamplingStart)                      \
  X(cuptiPmSamplingStop)                       \
  X(cuptiPmSamplingDecodeData)                 \
  X(cuptiPmSamplingGetCounterDataInfo)         \
  X(cuptiPmSamplingCounterDataGetSampleInfo)

#define HONE_RANGE_FUNCTIONS(X)                   \
  X(cuptiProfilerGetCounterAvailability)          \
  X(cuptiRangeProfilerEnable)                     \
  X(cuptiRangeProfilerDisable)                    \
  X(cuptiRangeProfilerGetCounterDataSize)         \
  X(cuptiRangeProfilerCounterDataImageInitialize) \
  X(cuptiRangeProfilerSetConfig)                  \
  X(cuptiRangeProfilerStart)                      \
  X(cuptiRangeProfilerStop)                       \
  X(cuptiRangeProfilerDecodeData)                 \
  X(cuptiRangeProfilerGetCounterDataInfo)

struct CounterFunctions {
#define HONE_DECLARE(name) decltype(&::name) name = nullptr;
  HONE_HOST_FUNCTIONS(HONE_DECLARE)
  HONE_SAMPLING_FUNCTIONS(HONE_DECLARE)
  HONE_RANGE_FUNCTIONS(HONE_DECLARE)
#undef HONE_DECLARE
};

/// Call after load_cupti(). Each of these functions returns a description of the error, or an empty text.
/// This one loads the functions that need no GPU; the others include them.
std::string load_host_functions();
std::string load_sampling_functions();
std::string load_range_functions();
/// Valid after one of these calls; functions that were not loaded are null.
const CounterFunctions& counter_functions();

/// A sentence about the result of a call that failed.
std::string problem_of(CUptiResult result, const char* action);
/// Throws std::runtime_error with that sentence if the call failed.
void check(CUptiResult result, const char* action);

/// CUPTI distinguishes versions of its parameters by their size.
template <class Params>
Params sized(size_t size) {
  Params params{};
  params.structSize = size;
  return params;
}
#define HONE_PARAMS(type) sized<type##_Params>(type##_Params_STRUCT_SIZE)

}  // namespace hone::trace::inject
