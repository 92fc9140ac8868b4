// See counter_library.hpp.
#include "trace/collect/plugin/counter_library.hpp"

#include "trace/collect/plugin/cupti_library.hpp"

namespace hone::trace::inject {
namespace {

CounterFunctions& functions() {
  static CounterFunctions instance;
  return instance;
}

}  // namespace

std::string load_counter_functions() {
#define HONE_RESOLVE(name)                                                     \
  functions().name = reinterpret_cast<decltype(&::name)>(cupti_symbol(#name)); \
  if (functions().name == nullptr) return "this CUPTI has no " #name;
  HONE_COUNTER_FUNCTIONS(HONE_RESOLVE)
#undef HONE_RESOLVE
  return "";
}

const CounterFunctions& counter_functions() { return functions(); }

std::string problem_of(CUptiResult result, const char* action) {
  if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
    return std::string(action) +
           " is not permitted: counters need root, or the driver's option "
           "NVreg_RestrictProfilingToAdminUsers=0";
  const char* reason = "unknown error";
  cupti().cuptiGetResultString(result, &reason);
  return std::string(action) + " failed (" + reason + ")";
}

}  // namespace hone::trace::inject
