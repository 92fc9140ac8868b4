// See counter_library.hpp.
#include "trace/collect/plugin/counter_library.hpp"

#include <stdexcept>

#include "trace/collect/plugin/cupti_library.hpp"

namespace hone::trace::inject {
namespace {

CounterFunctions& functions() {
  static CounterFunctions instance;
  return instance;
}

}  // namespace

#define HONE_RESOLVE(name)                                                     \
  functions().name = reinterpret_cast<decltype(&::name)>(cupti_symbol(#name)); \
  if (functions().name == nullptr) return "this CUPTI has no " #name;

std::string load_host_functions() {
  HONE_HOST_FUNCTIONS(HONE_RESOLVE)
  return "";
}

std::string load_sampling_functions() {
  HONE_SAMPLING_FUNCTIONS(HONE_RESOLVE)
  return load_host_functions();
}

std::string load_range_functions() {
  HONE_RANGE_FUNCTIONS(HONE_RESOLVE)
  return load_host_functions();
}

#undef HONE_RESOLVE

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

void check(CUptiResult result, const char* action) {
  if (result != CUPTI_SUCCESS) throw std::runtime_error(problem_of(result, action));
}

}  // namespace hone::trace::inject
