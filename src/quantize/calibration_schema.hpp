// Fields of a calibration cache.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/described.hpp"

namespace hone::quantize {

struct CacheRange {
  std::string calibrator;
  double low = 0;
  double high = 0;
};

struct CacheGrowth {
  int64_t samples = 0;
  double amax = 0;
};

struct CacheTensor {
  double min = 0;
  double max = 0;
  int64_t exponent = 0;
  int64_t first_bin = 0;
  std::vector<int64_t> bins;
  int64_t channel_axis = -1;
  int64_t channel_count = 0;
  std::vector<double> channel_sums;
  std::vector<CacheGrowth> growth;
  std::optional<CacheRange> range;
};

struct CacheFile {
  std::string format;
  int64_t version = 0;
  std::string fingerprint;
  std::string preprocessing;
  std::vector<std::string> sources;
  int64_t samples = 0;
  bool finished = false;
  base::Named<std::string> image_metadata;
  base::Named<std::vector<double>> equalization;
  base::Named<CacheTensor> tensors;
};

}  // namespace hone::quantize

namespace hone::base {

template <>
struct Description<quantize::CacheRange> {
  using T = quantize::CacheRange;
  static constexpr std::string_view kName = "CacheRange";
  static constexpr std::tuple kFields{
      Field{"calibrator", &T::calibrator, "how the range was chosen"},
      Field{"low", &T::low, "what the least integer stands for"},
      Field{"high", &T::high, "what the greatest integer stands for"},
  };
};

template <>
struct Description<quantize::CacheGrowth> {
  using T = quantize::CacheGrowth;
  static constexpr std::string_view kName = "CacheGrowth";
  static constexpr std::tuple kFields{
      at_least(0,
               Field{"samples", &T::samples, "samples seen when the largest magnitude grew", unit::kCount}),
      at_least(0, Field{"amax", &T::amax, "what it grew to"}),
  };
};

template <>
struct Description<quantize::CacheTensor> {
  using T = quantize::CacheTensor;
  static constexpr std::string_view kName = "CacheTensor";
  static constexpr std::tuple kFields{
      Field{"min", &T::min, "least value"},
      Field{"max", &T::max, "greatest value"},
      Field{"exponent", &T::exponent, "bins are 2^(exponent - 12) wide"},
      Field{"first_bin", &T::first_bin, "the first of `bins` begins at this many widths"},
      Field{"bins", &T::bins, "values in each bin", unit::kCount},
      Field{"channel_axis", &T::channel_axis, "axis of the channels, -1 where they do not matter"},
      at_least(0, Field{"channel_count", &T::channel_count, "values in each channel", unit::kCount}),
      Field{"channel_sums", &T::channel_sums, "sum of the values of each channel"},
      Field{"growth", &T::growth, "when the largest magnitude grew"},
      Field{"range", &T::range, "the range that was chosen"},
  };
};

template <>
struct Description<quantize::CacheFile> {
  using T = quantize::CacheFile;
  static constexpr std::string_view kName = "CacheFile";
  static constexpr std::tuple kFields{
      Field{"format", &T::format, "hone calibration"},
      Field{"version", &T::version, "of this format"},
      Field{"fingerprint", &T::fingerprint, "of the model"},
      Field{"preprocessing", &T::preprocessing, "how images become the input"},
      Field{"sources", &T::sources, "where the data came from"},
      at_least(0, Field{"samples", &T::samples, "samples seen", unit::kCount}),
      Field{"finished", &T::finished, "whether all of the data were seen"},
      later(Field{"image_metadata", &T::image_metadata, "entries that say how images become the input"}),
      later(Field{
          "equalization", &T::equalization,
          "factors that channels are divided by where a value is made, and weights that read it multiplied"}),
      Field{"tensors", &T::tensors, "by the names of the model"},
  };
};

}  // namespace hone::base
