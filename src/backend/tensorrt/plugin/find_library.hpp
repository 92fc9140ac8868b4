// Finds TensorRT's libraries on this machine.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hone::backend::tensorrt {

/// The majors that hone supports, newest first.
inline constexpr std::array<int, 3> kMajors = {11, 10, 8};

struct FoundLibrary {
  int major = 0;
  /// A file, or a bare name if the loader finds the library itself.
  std::filesystem::path file;
};

/// All libnvinfer.so.<major> of these majors, the preferred one first. If HONE_TENSORRT is set (to a file or
/// a folder), only that is used. Otherwise the loader's path precedes Python's packages, and newer majors
/// precede older ones. Usage error if HONE_TENSORRT names no library.
std::vector<FoundLibrary> find_libraries();

}  // namespace hone::backend::tensorrt
