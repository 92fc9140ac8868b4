// TensorRT's calibration cache: a line with version and algorithm, then lines "tensor name: scale" with the
// scale as the eight hexadecimal digits of a float32, most significant digit first.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace hone::quantize {

struct TensorrtCache {
  /// "TRT-8601-EntropyCalibration2".
  std::string header;
  /// Largest magnitude / 127, in the order of the file.
  std::vector<std::pair<std::string, float>> scales;
};

/// True if the file begins like such a cache; false if it cannot be read.
bool is_tensorrt_cache(const std::filesystem::path& file);

/// Accepts any version and algorithm. Bad input names file and line if the file is not a cache; it names the
/// tensor for scales that are 0, negative, NaN or infinite, and for tensors that occur twice.
TensorrtCache read_tensorrt_cache(const std::filesystem::path& file);

/// Publishes the file only when it is complete. Bad input for a name with a line break, which the format
/// cannot represent.
void write_tensorrt_cache(const std::filesystem::path& file, const TensorrtCache& cache);

/// The first line for a version such as 8601, with minmax calibration or else entropy
/// calibration.
std::string tensorrt_header(int version, bool minmax);

}  // namespace hone::quantize
