// CUPTI, loaded at run time: the process may have its own copy, and a second one in a process records
// nothing.
#pragma once

#include <cupti.h>

#include <string>

namespace hone::trace::inject {

#define HONE_CUPTI_FUNCTIONS(X)                   \
  X(cuptiSubscribe_v2)                            \
  X(cuptiEnableCallback)                          \
  X(cuptiGetVersion)                              \
  X(cuptiGetResultString)                         \
  X(cuptiGetCallbackName)                         \
  X(cuptiGetDeviceId)                             \
  X(cuptiGetGraphNodeId)                          \
  X(cuptiGetGraphId)                              \
  X(cuptiSetThreadIdType)                         \
  X(cuptiActivityRegisterTimestampCallback)       \
  X(cuptiActivityRegisterCallbacks)               \
  X(cuptiActivityEnable)                          \
  X(cuptiActivityEnableRuntimeApi)                \
  X(cuptiActivityEnableDriverApi)                 \
  X(cuptiActivityEnableCudaEventDeviceTimestamps) \
  X(cuptiActivitySetAttribute)                    \
  X(cuptiActivityGetNextRecord)                   \
  X(cuptiActivityGetNumDroppedRecords)            \
  X(cuptiActivityFlushAll)                        \
  X(cuptiActivityFlushPeriod)

/// One pointer for every function above, under its own name.
struct Cupti {
#define HONE_DECLARE(name) decltype(&::name) name = nullptr;
  HONE_CUPTI_FUNCTIONS(HONE_DECLARE)
#undef HONE_DECLARE
};

/// Loads CUPTI: $HONE_CUPTI, else the copy that the process has, else the one the loader finds or that lies
/// in the toolkit's usual folder. Returns what is wrong, or an empty text.
std::string load_cupti();
/// After load_cupti(): a function that not every CUPTI has; null when this one does not.
void* cupti_symbol(const char* name);
/// Valid after load_cupti().
const Cupti& cupti();

}  // namespace hone::trace::inject
