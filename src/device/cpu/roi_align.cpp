// RoiAlign by averages of feature maps whose channels lie innermost: every pixel that a bin reads is a
// vector.
//
// A sample's four weights are products of a weight along each axis, and so is what a pixel weighs in the
// average of a bin: the weights of rows and of columns are worked out once a region, and pixels that several
// samples of a bin read are read once.
#include "device/cpu/roi_align.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "device/cpu/clones.hpp"
#include "device/cpu/ranges.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using tensor::DType;

/// Elements of the result from which threads are worth their start.
constexpr int64_t kWorthThreads = 1 << 13;
/// Samples that one region may take, as in the reference kernel.
constexpr double kMaxSamples = 0x1p28;

/// A row or column that a bin reads, and its share in the average.
struct Tap {
  int64_t at = 0;
  double weight = 0;
};

/// The taps of each bin along one axis, ascending.
struct Taps {
  std::vector<Tap> list;
  /// Where each bin's begin, and the end of the last.
  std::vector<size_t> begin;
};

struct Options {
  int64_t height = 1;
  int64_t width = 1;
  int64_t ratio = 0;
  double scale = 1;
  bool half_pixel = true;
};

/// A region along one axis (K. He et al., "Mask R-CNN", 2017; the ONNX operator specification).
struct Axis {
  double start = 0;
  double bin = 0;
  int64_t samples = 0;

  Axis(const Options& options, double first, double last, int64_t bins) {
    const double shift = options.half_pixel ? 0.5 : 0;
    start = first * options.scale - shift;
    double length = last * options.scale - shift - start;
    if (!options.half_pixel) length = std::max(length, 1.0);
    bin = length / static_cast<double>(bins);
    const double wanted = options.ratio > 0 ? static_cast<double>(options.ratio) : std::ceil(bin);
    if (!(wanted * static_cast<double>(bins) <= kMaxSamples))
      fail_bad_input("a region from {} to {} takes too many samples", first, last);
    samples = static_cast<int64_t>(std::max(0.0, wanted));
  }
};

void add_tap(std::vector<Tap>& list, size_t begin, int64_t at, double weight) {
  if (weight == 0) return;
  // A sample's first pixel may be the second one of the sample before.
  for (size_t i = list.size(); i-- > begin && list[i].at >= at;) {
    if (list[i].at != at) continue;
    list[i].weight += weight;
    return;
  }
  list.push_back({at, weight});
}

/// `size`: of the map. Samples more than a pixel outside count as zeros.
void find_taps(Taps& taps, const Axis& axis, int64_t bins, int64_t size) {
  taps.list.clear();
  taps.begin.clear();
  const auto samples = static_cast<double>(axis.samples);
  for (int64_t bin = 0; bin < bins; ++bin) {
    const size_t begin = taps.list.size();
    taps.begin.push_back(begin);
    for (int64_t k = 0; k < axis.samples; ++k) {
      double x = axis.start + static_cast<double>(bin) * axis.bin +
                 (static_cast<double>(k) + 0.5) * axis.bin / samples;
      if (!(x >= -1 && x <= static_cast<double>(size))) continue;
      x = std::max(x, 0.0);
      const int64_t low = std::min(static_cast<int64_t>(x), size - 1);
      const int64_t high = std::min(low + 1, size - 1);
      const double fraction = high == low ? 0 : x - static_cast<double>(low);
      add_tap(taps.list, begin, low, (1 - fraction) / samples);
      add_tap(taps.list, begin, high, fraction / samples);
    }
  }
  taps.begin.push_back(taps.list.size());
}

/// sum[c] += weight * pixel[c]
HONE_CLONES void add_pixel(const float* pixel, float weight, float* sum, int64_t channels) {
#pragma omp simd
  for (int64_t c = 0; c < channels; ++c) sum[c] += weight * pixel[c];
}

class RoiAlignKernel final : public engine::Kernel {
 public:
  RoiAlignKernel(Shape map, int64_t regions, const Options& options)
      : map_(std::move(map)), regions_(regions), options_(options), threads_(omp_get_max_threads()) {}

  /// The sums of one region for each thread.
  int64_t scratch_bytes() const { return threads_ * elements() * int64_t{sizeof(float)}; }

  void run(const engine::Run& run) const override {
    const auto* x = static_cast<const float*>(run.inputs[0]);
    const auto* boxes = static_cast<const float*>(run.inputs[1]);
    const auto* images = static_cast<const int64_t*>(run.inputs[2]);
    auto* y = static_cast<float*>(run.outputs[0]);
    // An exception must not leave a thread.
    for (int64_t r = 0; r < regions_; ++r) check(boxes + r * 4, images[r]);
    const std::unique_ptr<engine::KernelState> own = run.state == nullptr ? make_state() : nullptr;
    auto& state = static_cast<State&>(own == nullptr ? *run.state : *own);
    const bool parallel = regions_ * elements() > kWorthThreads;
    in_shares(regions_, threads_, parallel, [&](int64_t begin, int64_t end, int64_t thread) {
      auto& [rows, columns] = state.taps[static_cast<size_t>(thread)];
      const std::span sums(static_cast<float*>(run.scratch) + thread * elements(),
                           static_cast<size_t>(elements()));
      for (int64_t r = begin; r < end; ++r) {
        const float* box = boxes + r * 4;
        find_taps(rows, Axis(options_, box[1], box[3], options_.height), options_.height, map_[2]);
        find_taps(columns, Axis(options_, box[0], box[2], options_.width), options_.width, map_[3]);
        pool(x + images[r] * map_[2] * map_[3] * map_[1], rows, columns, sums, y + r * elements());
      }
    });
  }

  std::unique_ptr<engine::KernelState> make_state() const override {
    auto state = std::make_unique<State>();
    state->taps.resize(static_cast<size_t>(threads_));
    return state;
  }

 private:
  /// How many taps there are depends on the regions; their memory stays.
  struct State final : engine::KernelState {
    /// Taps for rows and columns, one pair for each thread.
    std::vector<std::pair<Taps, Taps>> taps;
  };

  /// Elements in the result of one region.
  int64_t elements() const { return options_.height * options_.width * map_[1]; }

  void check(const float* box, int64_t image) const {
    if (image < 0 || image >= map_[0]) fail_bad_input("a region lies in image {} of {}", image, map_[0]);
    const Axis rows(options_, box[1], box[3], options_.height);
    const Axis columns(options_, box[0], box[2], options_.width);
    const double count = static_cast<double>(options_.height * options_.width) *
                         static_cast<double>(rows.samples) * static_cast<double>(columns.samples);
    if (!(count <= kMaxSamples)) fail_bad_input("a region takes {} samples", count);
  }

  /// The bins of one region, first with channels innermost.
  void pool(const float* image, const Taps& rows, const Taps& columns, std::span<float> sums,
            float* y) const {
    const int64_t channels = map_[1];
    const int64_t bins = options_.height * options_.width;
    std::fill(sums.begin(), sums.end(), 0.0f);
    for (int64_t bin = 0; bin < bins; ++bin) {
      float* const sum = sums.data() + bin * channels;
      const auto i = static_cast<size_t>(bin / options_.width);
      const auto j = static_cast<size_t>(bin % options_.width);
      for (size_t a = rows.begin[i]; a < rows.begin[i + 1]; ++a) {
        for (size_t b = columns.begin[j]; b < columns.begin[j + 1]; ++b) {
          const int64_t pixel = rows.list[a].at * map_[3] + columns.list[b].at;
          add_pixel(image + pixel * channels,
                    static_cast<float>(rows.list[a].weight * columns.list[b].weight), sum, channels);
        }
      }
    }
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t bin = 0; bin < bins; ++bin) *y++ = sums[static_cast<size_t>(bin * channels + c)];
    }
  }

  /// Batch, channels, height, width.
  Shape map_;
  int64_t regions_;
  Options options_;
  int64_t threads_;
};

Offer offer_roi_align(const StepRequest& request, engine::WeightStore&) {
  const graph::Attributes& attributes = request.node.attributes;
  if (attributes.get_string("mode") != "avg") return Offer::refuse("no averages are wanted");
  const Shape& map = request.inputs[0].shape;
  const DType index = request.graph.value(request.node.inputs[2]).type.dtype;
  if (index != DType::kInt64) return Offer::refuse("images are not numbered in int64");
  const Options options{
      .height = attributes.get_int("output_height"),
      .width = attributes.get_int("output_width"),
      .ratio = attributes.get_int("sampling_ratio"),
      .scale = attributes.get_float("spatial_scale"),
      .half_pixel = attributes.get_string("coordinate_transformation_mode") == "half_pixel"};
  Offer offer;
  offer.inputs = {{DType::kFloat32, map, Layout::kChannelsLast},
                  {DType::kFloat32, request.inputs[1].shape, Layout::kPlain},
                  {DType::kInt64, request.inputs[2].shape, Layout::kPlain}};
  offer.outputs = request.outputs;
  auto kernel = std::make_shared<RoiAlignKernel>(map, request.inputs[1].shape[0], options);
  offer.scratch_bytes = kernel->scratch_bytes();
  offer.kernel = std::move(kernel);
  return offer;
}

}  // namespace

void add_roi_align_tactics(TacticList& list) {
  list.push_back({.name = "roi_align",
                  .operators = {"RoiAlign"},
                  .requirements = {engine::only_float32, engine::nonempty_input, engine::nonempty_output},
                  .make = offer_roi_align});
}

}  // namespace hone::device::cpu
