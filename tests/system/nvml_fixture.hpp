// The libraries of fake_nvml.cpp, and what they say for the life of an object.
#pragma once

#include <cstdlib>
#include <string>

namespace hone::system {

/// With all functions, and with those alone that the oldest drivers have.
inline const std::string kFakeNvml = HONE_FAKE_NVML;
inline const std::string kOldNvml = HONE_OLD_NVML;

class FakeGpu {
 public:
  explicit FakeGpu(const std::string& settings) { ::setenv("FAKE_NVML", settings.c_str(), 1); }
  ~FakeGpu() { ::unsetenv("FAKE_NVML"); }
};

}  // namespace hone::system
