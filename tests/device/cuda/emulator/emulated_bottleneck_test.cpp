// The bottlenecks' kernels on the emulator: one row of pixels a block, and two; the blocks of a cluster.
#include "device/cuda/regions/bottleneck/plugin/kernels/bottleneck.hpp"

#include <limits>

#include "device/cuda/bottleneck_filters.hpp"
#include "device/cuda/conv_problems.hpp"
#include "device/cuda/emulator/emulated_kernels.hpp"

namespace hone::device::cuda::emulated {
namespace {

StreamEpilogue bounds(float low, float high) { return {StreamKind::kBounds, 0, low, high}; }
const StreamEpilogue kNone =
    bounds(-std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity());

/// A bottleneck with its operands, and what it gives. Most filters are zero, so that few values reach a bound
/// and each convolution shows in the result.
class BottleneckCase {
 public:
  BottleneckCase(const Bottleneck& size, Element element, bool with_biases,
                 BottleneckWay way = BottleneckWay::kUsual)
      : size_(size),
        way_(way),
        element_(element),
        with_biases_(with_biases),
        window_layer_(layer(size.channels, size.channels, 3)),
        expand_layer_(layer(size.channels, size.wide())),
        next_layer_(layer(size.wide(), size.next)),
        x_(element, window_layer_.rows() * size.channels, 2, 1),
        shortcut_(element, window_layer_.rows() * (size.projects ? size.channels : size.wide()), 2, 2),
        window_(filters(window_layer_, 3, sparsity(32))),
        expand_(filters(expand_layer_, 4, sparsity(8))),
        next_(filters(next_layer_, 5, sparsity(8))),
        packed_window_(element, arranged_window(size, way, window_.values)),
        packed_expand_(element, arranged_expand(size, way, expand_.values)),
        packed_next_(element, arranged_next(size, way, next_.values)),
        projection_(filters(expand_layer_, 6, 16)),
        window_bias_(Element::kFloat, size.channels, 2, 7),
        expand_bias_(Element::kFloat, size.wide(), 2, 8),
        next_bias_(Element::kFloat, size.next, 4, 9),
        projection_bias_(Element::kFloat, size.wide(), 2, 10) {}

  void expect(const std::vector<Schedule>& schedules) const {
    SCOPED_TRACE(std::to_string(size_.batch) + " x " + std::to_string(size_.height) + " x " +
                 std::to_string(size_.width) + " of " + std::to_string(size_.channels) + " to " +
                 std::to_string(size_.next) + (size_.projects ? ", projected" : ""));
    const std::vector<float> made_wide = make_wide();
    const std::vector<float> made_narrow =
        bounded(sums(next_layer_, made_wide, next_, next_bias_), size_.narrow_bounds);
    for (const Schedule& schedule : schedules) {
      SCOPED_TRACE(text(schedule));
      Output wide(element_, result_extents(expand_layer_));
      Output narrow(element_, result_extents(next_layer_));
      expect_launch(schedule, [&] { return launch(wide, narrow); });
      EXPECT_TRUE(wide.holds({made_wide.begin(), made_wide.end()})) << "wide";
      EXPECT_TRUE(narrow.holds({made_narrow.begin(), made_narrow.end()})) << "narrow";
    }
  }

 private:
  ConvProblem layer(int64_t channels, int64_t filters, int kernel = 1) const {
    ConvProblem p = problem(static_cast<int>(size_.batch), 0, static_cast<int>(channels),
                            static_cast<int>(filters), kernel);
    p.element = element_;
    p.height = static_cast<int>(size_.height);
    p.width = static_cast<int>(size_.width);
    return p;
  }

  static Tensor filters(const ConvProblem& p, unsigned seed, unsigned one_in) {
    return {p.element, p.filters * p.depth(), 1, seed, one_in};
  }

  /// One filter's weight in so many is not zero, less often where there are more channels.
  unsigned sparsity(unsigned of_fewest) const {
    return of_fewest * static_cast<unsigned>(size_.channels / Bottleneck::kChannels);
  }

  cudaError_t launch(Output& wide, Output& narrow) const {
    const auto bias = [&](const Tensor& values) { return with_biases_ ? values.floats() : nullptr; };
    emulator::busy_ahead(nullptr, 0);
    x_.be_busy();
    shortcut_.be_busy();
    wide.be_busy();
    narrow.be_busy();
    const BottleneckArgs args{x_.get(),
                              shortcut_.get(),
                              packed_window_.get(),
                              packed_expand_.get(),
                              packed_next_.get(),
                              size_.projects ? projection_.get() : nullptr,
                              bias(window_bias_),
                              bias(expand_bias_),
                              bias(next_bias_),
                              bias(projection_bias_),
                              wide.get(),
                              size_.next == 0 ? nullptr : narrow.get()};
    const FloatType type = element_ == Element::kHalf ? FloatType::kHalf : FloatType::kBfloat16;
    return launch_bottleneck(
        way_, args, type, size_,
        {.device = &emulator::properties(), .pdl = true, .next_waits = true, .behind_cluster = true});
  }

  std::vector<double> sums(const ConvProblem& p, const std::vector<float>& x, const Tensor& w,
                           const Tensor& bias) const {
    std::vector<double> sums = convolve(p, x, w.values);
    if (!with_biases_) return sums;
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += bias.values[i % p.filters];
    return sums;
  }

  /// Rounded first, as the kernel does.
  std::vector<float> bounded(const std::vector<double>& values, const StreamEpilogue& limits) const {
    std::vector<float> result;
    for (const double value : values)
      result.push_back(std::clamp(rounded(element_, value), limits.low, limits.high));
    return result;
  }

  std::vector<float> make_wide() const {
    const std::vector<float> middle =
        bounded(sums(window_layer_, x_.values, window_, window_bias_), size_.window_bounds);
    std::vector<double> wide = sums(expand_layer_, middle, expand_, expand_bias_);
    const std::vector<double> projected =
        size_.projects ? sums(expand_layer_, shortcut_.values, projection_, projection_bias_)
                       : std::vector<double>(shortcut_.values.begin(), shortcut_.values.end());
    for (size_t i = 0; i < wide.size(); ++i) wide[i] += projected[i];
    return bounded(wide, size_.wide_bounds);
  }

  Bottleneck size_;
  BottleneckWay way_;
  Element element_;
  bool with_biases_;
  ConvProblem window_layer_;
  ConvProblem expand_layer_;
  ConvProblem next_layer_;
  Tensor x_;
  Tensor shortcut_;
  Tensor window_;
  Tensor expand_;
  Tensor next_;
  Tensor packed_window_;
  Tensor packed_expand_;
  Tensor packed_next_;
  Tensor projection_;
  Tensor window_bias_;
  Tensor expand_bias_;
  Tensor next_bias_;
  Tensor projection_bias_;
};

struct Image {
  int64_t batch;
  int64_t height;
  int64_t width;
};

Bottleneck bottleneck_of(const Image& image, int64_t next, bool projects,
                         const StreamEpilogue& narrow = bounds(-20, 40)) {
  return {image.batch, image.height, image.width, next, projects, bounds(0, 6), bounds(0, 15), narrow};
}

Bottleneck cluster_of(const Image& image, int64_t channels, const StreamEpilogue& narrow = bounds(-20, 40)) {
  Bottleneck size = bottleneck_of(image, channels, false, narrow);
  size.channels = channels;
  return size;
}

/// Without the next one's convolution.
Bottleneck last_of(const Image& image, int64_t channels) {
  Bottleneck size = bottleneck_of(image, 0, false);
  size.channels = channels;
  return size;
}

// Where tiles are more than multiprocessors, two warpgroups make two rows; one multiprocessor holds one
// block, which makes all. With an odd height, the last row's neighbour is no pixel.
TEST(EmulatedBottleneck, BlocksOfTwoRowsMakeStripAfterStrip) {
  emulator::set_multiprocessors(1);
  const Image image{1, 5, 7};
  BottleneckCase(bottleneck_of(image, 64, false), Element::kHalf, true).expect(kAllSchedules);
  BottleneckCase(bottleneck_of(image, 64, true), Element::kHalf, true).expect(kAllSchedules);
  BottleneckCase(bottleneck_of(image, 128, false), Element::kHalf, false).expect(kAllSchedules);
}

TEST(EmulatedBottleneck, BlocksOfOneRowMakeATile) {
  emulator::set_multiprocessors(132);
  const Image image{1, 2, 7};
  BottleneckCase(bottleneck_of(image, 64, false), Element::kHalf, false).expect(kAllSchedules);
  BottleneckCase(bottleneck_of(image, 64, true), Element::kHalf, false).expect(kAllSchedules);
  BottleneckCase(bottleneck_of(image, 128, false), Element::kHalf, true).expect(kAllSchedules);
}

// Rows of one pixel, of less than a tile, of as much, of more.
TEST(EmulatedBottleneck, RowsOfManyWidths) {
  for (const int multiprocessors : {1, 132}) {
    emulator::set_multiprocessors(multiprocessors);
    BottleneckCase(bottleneck_of({2, 1, 1}, 64, false, kNone), Element::kHalf, true).expect(kFewSchedules);
    BottleneckCase(bottleneck_of({1, 2, 56}, 128, false), Element::kHalf, false).expect(kFewSchedules);
    BottleneckCase(bottleneck_of({1, 2, 64}, 64, true, kNone), Element::kHalf, true).expect(kFewSchedules);
    BottleneckCase(bottleneck_of({1, 1, 65}, 64, false), Element::kHalf, true).expect(kFewSchedules);
  }
}

TEST(EmulatedBottleneck, BlocksShareTheStripsOfSeveralImages) {
  emulator::set_multiprocessors(2);
  BottleneckCase(bottleneck_of({3, 3, 9}, 64, true), Element::kHalf, false).expect(kFewSchedules);
}

TEST(EmulatedBottleneck, ElementsMayBeBfloat16) {
  for (const int multiprocessors : {1, 132}) {
    emulator::set_multiprocessors(multiprocessors);
    for (const auto& [next, projects] : {std::pair(64, false), std::pair(128, false), std::pair(64, true)})
      BottleneckCase(bottleneck_of({1, 2, 9}, next, projects), Element::kBFloat16, true)
          .expect(kFewSchedules);
  }
}

// More tiles than its rings have places, of one block; several images.
TEST(EmulatedBottleneck, PipelinesMakeTileAfterTile) {
  emulator::set_multiprocessors(1);
  const Image image{2, 4, 7};
  for (const auto& [next, projects] : {std::pair(64, false), std::pair(128, false), std::pair(64, true)})
    BottleneckCase(bottleneck_of(image, next, projects), Element::kHalf, true, BottleneckWay::kPipelined)
        .expect(kAllSchedules);
}

// Rows of one pixel, of as much as a tile, of more; a tile a block, and several.
TEST(EmulatedBottleneck, PipelinesTakeRowsOfManyWidths) {
  for (const int multiprocessors : {2, 132}) {
    emulator::set_multiprocessors(multiprocessors);
    const auto expect = [](const Image& image, int64_t next, bool projects, bool biases) {
      BottleneckCase(bottleneck_of(image, next, projects, kNone), Element::kHalf, biases,
                     BottleneckWay::kPipelined)
          .expect(kFewSchedules);
    };
    expect({2, 1, 1}, 64, false, true);
    expect({1, 2, 56}, 128, false, false);
    expect({1, 2, 55}, 64, true, true);
    expect({1, 1, 57}, 64, false, false);
    expect({1, 1, 113}, 64, true, false);
  }
}

TEST(EmulatedBottleneck, PipelinesTakeBfloat16) {
  emulator::set_multiprocessors(2);
  for (const auto& [next, projects] : {std::pair(64, false), std::pair(128, false), std::pair(64, true)})
    BottleneckCase(bottleneck_of({1, 3, 9}, next, projects), Element::kBFloat16, true,
                   BottleneckWay::kPipelined)
        .expect(kFewSchedules);
}

// A tile of one row and of several, whose last row may lie outside; several tiles and images.
TEST(EmulatedBottleneck, ClustersOfFourShareTheFilters) {
  BottleneckCase(cluster_of({1, 1, 28}, 128), Element::kHalf, true).expect(kAllSchedules);
  BottleneckCase(cluster_of({1, 3, 14}, 128), Element::kHalf, false).expect(kFewSchedules);
  BottleneckCase(cluster_of({2, 2, 32}, 128, kNone), Element::kHalf, true).expect(kFewSchedules);
  BottleneckCase(cluster_of({1, 5, 7}, 128), Element::kBFloat16, true).expect(kFewSchedules);
  BottleneckCase(cluster_of({1, 1, 1}, 128), Element::kHalf, true).expect(kFewSchedules);
  BottleneckCase(last_of({1, 1, 28}, 128), Element::kHalf, true).expect(kAllSchedules);
  BottleneckCase(last_of({2, 5, 7}, 128), Element::kBFloat16, false).expect(kFewSchedules);
}

TEST(EmulatedBottleneck, ClustersOfSixteenShareTheFilters) {
  BottleneckCase(cluster_of({1, 3, 14}, 256), Element::kHalf, true).expect({kFewSchedules[1]});
  BottleneckCase(cluster_of({1, 1, 17}, 256, kNone), Element::kBFloat16, false).expect({kFewSchedules[0]});
  BottleneckCase(last_of({1, 3, 14}, 256), Element::kHalf, true).expect({kFewSchedules[1]});
}

}  // namespace
}  // namespace hone::device::cuda::emulated
