// Answers `hone profile --query-metrics`, which asks for the metrics that a chip knows; this library uses
// CUPTI.
#include <dlfcn.h>

#include <cstring>
#include <exception>
#include <stdexcept>

#include "trace/collect/plugin/cupti_library.hpp"
#include "trace/collect/plugin/profiler_host.hpp"

namespace hone::trace::inject {
namespace {

void require(const std::string& problem) {
  if (!problem.empty()) throw std::runtime_error(problem);
}

/// The chip of the first GPU of this machine.
std::string chip_here() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) throw std::runtime_error("this machine has no driver of NVIDIA");
  const auto initialize = reinterpret_cast<CUresult (*)(unsigned)>(dlsym(driver, "cuInit"));
  if (initialize == nullptr || initialize(0) != CUDA_SUCCESS)
    throw std::runtime_error("this machine has no GPU that CUDA can use");
  return chip_name(0);
}

std::string know_metrics(const std::string& chip, const char* const* names, size_t count, uint8_t* known) {
  require(load_cupti());
  require(load_host_functions());
  auto initialize = HONE_PARAMS(CUpti_Profiler_Initialize);
  counter_functions().cuptiProfilerInitialize(
      &initialize);  // fails without a GPU, which is not needed if the chip is given by name
  std::string asked = chip.empty() ? chip_here() : chip;
  ProfilerHost host(CUPTI_PROFILER_TYPE_RANGE_PROFILER, asked, {});
  for (size_t i = 0; i < count; ++i) {
    try {
      host.configure({names[i]});
      known[i] = 1;
    } catch (const std::runtime_error&) {
      known[i] = 0;
    }
  }
  return asked;
}

}  // namespace
}  // namespace hone::trace::inject

/// Fills `known` for current metrics by their names. An empty chip means that of the first GPU of this
/// machine. Returns 1 and the chip in `text`, or 0 and a sentence about the error.
// NOLINTNEXTLINE(readability-identifier-naming): found by its name
extern "C" __attribute__((visibility("default"))) int hone_know_metrics(const char* chip,
                                                                        const char* const* names,
                                                                        size_t count, uint8_t* known,
                                                                        char* text, size_t size) {
  const auto say = [&](const char* what) {
    std::strncpy(text, what, size - 1);
    text[size - 1] = '\0';
  };
  try {
    say(hone::trace::inject::know_metrics(chip, names, count, known).c_str());
    return 1;
  } catch (const std::exception& error) {
    say(error.what());
    return 0;
  }
}
