// Reference kernels of the detection family: pooling of regions of a feature map.
//
// Sources: R. Girshick, "Fast R-CNN", 2015 (MaxRoiPool); K. He et al., "Mask R-CNN", 2017, and the ONNX
// operator specification (RoiAlign).
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "reference/kernels/detection_family.hpp"
#include "reference/kernels/rounding.hpp"

namespace hone::reference {
namespace {

/// Limit on the samples of one region; only regions far larger than any image need more.
constexpr double kMaxSamples = 0x1p28;

/// The four pixels around a sample: weights, which are 0 outside the image, and offsets in the plane.
struct Sample {
  double weight[4] = {};
  int64_t offset[4] = {};
};

/// The two pixels around a coordinate that is at most one pixel outside, and the weight of the second pixel.
struct Neighbours {
  int64_t low;
  int64_t high;
  double fraction;

  Neighbours(double x, int64_t size) {
    x = std::max(x, 0.0);
    low = std::min(static_cast<int64_t>(x), size - 1);
    high = std::min(low + 1, size - 1);
    fraction = high == low ? 0 : x - static_cast<double>(low);
  }
};

Sample sample_at(double y, double x, int64_t height, int64_t width) {
  const bool inside =
      y >= -1 && y <= static_cast<double>(height) && x >= -1 && x <= static_cast<double>(width);
  if (!inside) return {};
  const Neighbours rows(y, height);
  const Neighbours columns(x, width);
  const double fy = rows.fraction;
  const double fx = columns.fraction;
  return {{(1 - fy) * (1 - fx), (1 - fy) * fx, fy * (1 - fx), fy * fx},
          {rows.low * width + columns.low, rows.low * width + columns.high, rows.high * width + columns.low,
           rows.high * width + columns.high}};
}

/// A region along one axis: its start, the length of a bin, and the number of samples of a bin.
struct RegionAxis {
  double start;
  double bin;
  int64_t samples;

  double position(int64_t output, int64_t sample) const {
    return start + static_cast<double>(output) * bin +
           (static_cast<double>(sample) + 0.5) * bin / static_cast<double>(samples);
  }
};

struct AlignOptions {
  int64_t height;
  int64_t width;
  int64_t ratio;
  double scale;
  bool half_pixel;
  bool average;

  explicit AlignOptions(const graph::Attributes& attributes)
      : height(attributes.get_int("output_height")),
        width(attributes.get_int("output_width")),
        ratio(attributes.get_int("sampling_ratio")),
        scale(attributes.get_float("spatial_scale")),
        half_pixel(attributes.get_string("coordinate_transformation_mode") == "half_pixel"),
        average(attributes.get_string("mode") == "avg") {}

  /// Without the half-pixel shift, a region is at least one pixel long.
  RegionAxis axis(double first, double last, int64_t outputs) const {
    const double shift = half_pixel ? 0.5 : 0;
    const double start = first * scale - shift;
    double length = last * scale - shift - start;
    if (!half_pixel) length = std::max(length, 1.0);
    const double bin = length / static_cast<double>(outputs);
    const double samples = ratio > 0 ? static_cast<double>(ratio) : std::ceil(bin);
    if (!(samples * static_cast<double>(outputs) <= kMaxSamples)) {
      fail_bad_input("a region from {} to {} takes too many samples", first, last);
    }
    return {start, bin, static_cast<int64_t>(std::max(0.0, samples))};
  }
};

/// All samples of one region, bin by bin.
std::vector<Sample> region_samples(const RegionAxis& rows, const RegionAxis& columns,
                                   const AlignOptions& options, const Shape& x) {
  const double count = static_cast<double>(options.height * options.width) *
                       static_cast<double>(rows.samples) * static_cast<double>(columns.samples);
  if (!(count <= kMaxSamples)) fail_bad_input("a region takes {} samples", count);
  std::vector<Sample> samples;
  for (int64_t i = 0; i < options.height; ++i) {
    for (int64_t j = 0; j < options.width; ++j) {
      for (int64_t row = 0; row < rows.samples; ++row) {
        for (int64_t column = 0; column < columns.samples; ++column) {
          samples.push_back(sample_at(rows.position(i, row), columns.position(j, column), x[2], x[3]));
        }
      }
    }
  }
  return samples;
}

/// ONNX's maximum is over the weighted pixels, not over the interpolated samples; its tests and its reference
/// implementation agree on that.
double pool_bin(const double* plane, std::span<const Sample> samples, bool average) {
  double sum = 0;
  double highest = samples.empty() ? 0 : -std::numeric_limits<double>::infinity();
  for (const Sample& sample : samples) {
    for (size_t k = 0; k < 4; ++k) {
      const double value = sample.weight[k] * plane[sample.offset[k]];
      sum += value;
      highest = std::max(highest, value);
    }
  }
  if (!average) return highest;
  return samples.empty() ? 0 : sum / static_cast<double>(samples.size());
}

void check_map(const Tensor& x, const Tensor& rois, int64_t columns) {
  if (x.rank() != 4 || rois.rank() != 2 || rois.shape()[1] != columns) {
    fail_bad_input("inputs have shapes {} and {}, expected rank 4 and {} columns",
                   tensor::shape_text(x.shape()), tensor::shape_text(rois.shape()), columns);
  }
  if (x.shape()[2] == 0 || x.shape()[3] == 0) fail_bad_input("input 0 is an empty image");
}

void check_image(int64_t image, const Tensor& x) {
  if (image < 0 || image >= x.shape()[0]) {
    fail_bad_input("a region lies in image {} of {}", image, x.shape()[0]);
  }
}

/// Pixels [first, last) of bin `o`, rounded as in Fast R-CNN and limited to the image.
std::pair<int64_t, int64_t> pooled_pixels(double first, double last, int64_t bins, int64_t o, int64_t size) {
  const double length = std::max(last - first + 1, 1.0);
  const double bin = length / static_cast<double>(bins);
  const auto limit = static_cast<double>(size);
  const double begin = std::clamp(std::floor(static_cast<double>(o) * bin) + first, 0.0, limit);
  const double end = std::clamp(std::ceil(static_cast<double>(o + 1) * bin) + first, 0.0, limit);
  return {static_cast<int64_t>(begin), static_cast<int64_t>(end)};
}

}  // namespace

void roi_align(KernelContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& rois = context.input(1);
  check_map(x, rois, 4);
  const std::vector<int64_t> images = context.input(2).to_int64();
  if (static_cast<int64_t>(images.size()) != rois.shape()[0]) {
    fail_bad_input("input 2 has {} elements, expected {}", images.size(), rois.shape()[0]);
  }
  const AlignOptions options(context.attributes());
  const int64_t channels = x.shape()[1];
  Tensor& y = context.make_output(0, x.dtype(), {rois.shape()[0], channels, options.height, options.width});
  const std::vector<double> data = x.to_double();
  const std::vector<double> corners = rois.to_double();
  const int64_t plane = x.shape()[2] * x.shape()[3];
  const auto bins = static_cast<size_t>(options.height * options.width);
  std::vector<double> result;
  for (size_t r = 0; r < images.size(); ++r) {
    check_image(images[r], x);
    const double* box = corners.data() + r * 4;
    const RegionAxis rows = options.axis(box[1], box[3], options.height);
    const RegionAxis columns = options.axis(box[0], box[2], options.width);
    const std::vector<Sample> samples = region_samples(rows, columns, options, x.shape());
    const size_t per_bin = samples.size() / bins;
    for (int64_t c = 0; c < channels; ++c) {
      const double* from = data.data() + (images[r] * channels + c) * plane;
      for (size_t bin = 0; bin < bins; ++bin) {
        result.push_back(pool_bin(from, std::span(samples).subspan(bin * per_bin, per_bin), options.average));
      }
    }
  }
  store_rounded(y, result);
}

void max_roi_pool(KernelContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& rois = context.input(1);
  check_map(x, rois, 5);
  const auto& pooled = context.attributes().get_ints("pooled_shape");
  const double scale = context.attributes().get_float("spatial_scale");
  const int64_t channels = x.shape()[1];
  const int64_t height = x.shape()[2];
  const int64_t width = x.shape()[3];
  Tensor& y = context.make_output(0, x.dtype(), {rois.shape()[0], channels, pooled[0], pooled[1]});
  const std::vector<double> data = x.to_double();
  const std::vector<double> regions = rois.to_double();
  std::vector<double> result;
  for (int64_t at = 0; at < y.size(); ++at) {
    const int64_t j = at % pooled[1];
    const int64_t i = at / pooled[1] % pooled[0];
    const int64_t c = at / pooled[1] / pooled[0] % channels;
    const double* region = regions.data() + at / pooled[1] / pooled[0] / channels * 5;
    const double image = region[0];
    check_image(image >= 0 && image < static_cast<double>(x.shape()[0]) ? static_cast<int64_t>(image) : -1,
                x);
    const auto corner = [&](size_t k) {
      const double rounded = std::round(region[k] * scale);
      if (!std::isfinite(rounded)) fail_bad_input("a region has the corner {}", region[k]);
      return rounded;
    };
    const auto [top, bottom] = pooled_pixels(corner(2), corner(4), pooled[0], i, height);
    const auto [left, right] = pooled_pixels(corner(1), corner(3), pooled[1], j, width);
    double highest = bottom <= top || right <= left ? 0 : -std::numeric_limits<double>::infinity();
    for (int64_t row = top; row < bottom; ++row) {
      for (int64_t column = left; column < right; ++column) {
        const int64_t offset = ((static_cast<int64_t>(image) * channels + c) * height + row) * width + column;
        highest = std::max(highest, data[static_cast<size_t>(offset)]);
      }
    }
    result.push_back(highest);
  }
  store_rounded(y, result);
}

}  // namespace hone::reference
