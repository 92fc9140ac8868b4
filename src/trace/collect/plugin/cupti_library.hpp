// CUPTI, loaded at run time: the process may have its own copy, and a second copy in the same process records
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

/// One pointer for every function above, with the function's name.
struct Cupti {
#define HONE_DECLARE(name) decltype(&::name) name = nullptr;
  HONE_CUPTI_FUNCTIONS(HONE_DECLARE)
#undef HONE_DECLARE
};

/// Loads CUPTI: the library in $HONE_CUPTI, else the copy that the process has loaded, else the one that the
/// loader finds or that lies in the usual folder of the toolkit. Returns a description of the error, or an
/// empty text.
std::string load_cupti();
/// Call after load_cupti(). A function that not every version of CUPTI has; null if this one lacks it.
void* cupti_symbol(const char* name);
/// Valid after load_cupti().
const Cupti& cupti();

}  // namespace hone::trace::inject
