// TensorRT's calibration cache: a line with version and algorithm, then "tensor name: scale" with the scale
// as the eight hexadecimal digits of a float32, most significant first.
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

/// True if the file begins as such a cache does; false for one that cannot be read.
bool is_tensorrt_cache(const std::filesystem::path& file);

/// Any version and algorithm. Bad input naming file and line for a file that is no cache, and naming the
/// tensor for scales that are 0, negative, NaN or infinite and for tensors named twice.
TensorrtCache read_tensorrt_cache(const std::filesystem::path& file);

/// Written whole or not at all. Bad input for a name with a line break, which the format cannot hold.
void write_tensorrt_cache(const std::filesystem::path& file, const TensorrtCache& cache);

/// The first line for a version such as 8601, and minmax or, for everything else, entropy calibration.
std::string tensorrt_header(int version, bool minmax);

}  // namespace hone::quantize
