// The part of CUPTI that reads hardware counters, looked up when counters are wanted: older copies of CUPTI
// record without it.
#pragma once

#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include <string>

namespace hone::trace::inject {

#define HONE_COUNTER_FUNCTIONS(X)              \
  X(cuptiProfilerInitialize)                   \
  X(cuptiDeviceGetChipName)                    \
  X(cuptiProfilerHostInitialize)               \
  X(cuptiProfilerHostDeinitialize)             \
  X(cuptiProfilerHostConfigAddMetrics)         \
  X(cuptiProfilerHostGetConfigImageSize)       \
  X(cuptiProfilerHostGetConfigImage)           \
  X(cuptiProfilerHostGetNumOfPasses)           \
  X(cuptiProfilerHostEvaluateToGpuValues)      \
  X(cuptiPmSamplingGetCounterAvailability)     \
  X(cuptiPmSamplingEnable)                     \
  X(cuptiPmSamplingSetConfig)                  \
  X(cuptiPmSamplingGetCounterDataSize)         \
  X(cuptiPmSamplingCounterDataImageInitialize) \
  X(cuptiPmSamplingStart)                      \
  X(cuptiPmSamplingStop)                       \
  X(cuptiPmSamplingDecodeData)                 \
  X(cuptiPmSamplingGetCounterDataInfo)         \
  X(cuptiPmSamplingCounterDataGetSampleInfo)

struct CounterFunctions {
#define HONE_DECLARE(name) decltype(&::name) name = nullptr;
  HONE_COUNTER_FUNCTIONS(HONE_DECLARE)
#undef HONE_DECLARE
};

/// After load_cupti(). Returns what is wrong, or an empty text.
std::string load_counter_functions();
/// After load_counter_functions().
const CounterFunctions& counter_functions();

/// A sentence of what a call returned that did not succeed.
std::string problem_of(CUptiResult result, const char* action);

}  // namespace hone::trace::inject
