// Finds TensorRT's libraries on this machine.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hone::backend::tensorrt {

/// The majors that hone knows, newest first.
inline constexpr std::array<int, 3> kMajors = {11, 10, 8};

struct FoundLibrary {
  int major = 0;
  /// A file, or a bare name where the loader finds it by itself.
  std::filesystem::path file;
};

/// All libnvinfer.so.<major> of these majors, the one to take first: what HONE_TENSORRT names (a file or a
/// folder, and then nothing else), else the loader's path before Python's packages, newer majors before older
/// ones. Usage error where HONE_TENSORRT names nothing.
std::vector<FoundLibrary> find_libraries();

}  // namespace hone::backend::tensorrt
