// Checks of bottleneck.hpp and pipelined_bottleneck.hpp.
#include "device/cuda/regions/bottleneck/plugin/kernels/bottleneck.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <vector>

#include "device/cuda/bottleneck_filters.hpp"
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

StreamEpilogue bounds(float low, float high) { return {StreamKind::kBounds, 0, low, high}; }

Values filters(int64_t rows, int64_t depth, FloatType type) {
  const double limit = std::sqrt(6.0 / static_cast<double>(depth));
  return {rows * depth, type, -limit, limit};
}

/// One bottleneck with random operands, and what it must give.
class Case {
 public:
  Case(const Bottleneck& size, FloatType type, bool with_biases, BottleneckWay way = BottleneckWay::kUsual)
      : size_(size),
        way_(way),
        type_(type),
        with_biases_(with_biases),
        channels_(size.channels),
        wide_channels_(size.wide()),
        pixels_(size.batch * size.height * size.width),
        shortcut_channels_(size.projects ? channels_ : wide_channels_),
        x_(pixels_ * channels_, type),
        shortcut_(pixels_ * shortcut_channels_, type),
        window_(filters(channels_, 9 * channels_, type)),
        expand_(filters(wide_channels_, channels_, type)),
        next_(filters(size.next, wide_channels_, type)),
        packed_window_(arranged_window(size, way, window_.host), type),
        packed_expand_(arranged_expand(size, way, expand_.host), type),
        packed_next_(arranged_next(size, way, next_.host), type),
        projection_(filters(wide_channels_, channels_, type)),
        window_bias_(channels_, FloatType::kFloat),
        expand_bias_(wide_channels_, FloatType::kFloat),
        next_bias_(size.next, FloatType::kFloat),
        projection_bias_(wide_channels_, FloatType::kFloat) {}

  void run(Family& family) {
    const std::string what = std::string(type_name(type_)) + " " + std::to_string(size_.batch) + " x " +
                             std::to_string(size_.height) + " x " + std::to_string(size_.width) + " of " +
                             std::to_string(channels_) + " to " + std::to_string(size_.next) +
                             (size_.projects ? ", projected" : "") + (with_biases_ ? ", biases" : "");
    Output wide(pixels_ * wide_channels_, type_);
    Output narrow(pixels_ * size_.next, type_);
    const BottleneckArgs args = arguments(x_.get(), shortcut_.get(), wide.get(), narrow.get());
    // As much shared memory as it needs, and no more.
    family.launched(launch_bottleneck(way_, args, type_, size_, {.device = &gpu(), .behind_cluster = true}),
                    what);
    expect_wide(wide);
    family.compare(wide, wide_slack(), what + ", wide");
    if (size_.next == 0) return;
    // From what the kernel itself made of the bottleneck, so that its roundings do not count twice.
    const Values made = download(wide);
    for (int64_t p = 0; p < pixels_; ++p) {
      for (int64_t k = 0; k < size_.next; ++k)
        narrow[p * size_.next + k] = bound(
            size_.narrow_bounds, (with_biases_ ? next_bias_[k] : 0) + dot(next_, k, made, p, wide_channels_));
    }
    family.compare(narrow, 8 * kFloatRoundoff * std::sqrt(wide_channels_) * most_, what + ", narrow");
  }

  /// Images that links of a chain write in turn.
  struct Images {
    explicit Images(const Case& of)
        : wide{DeviceBuffer(2 * of.pixels_ * of.wide_channels_),
               DeviceBuffer(2 * of.pixels_ * of.wide_channels_)},
          narrow{DeviceBuffer(2 * of.pixels_ * of.channels_), DeviceBuffer(2 * of.pixels_ * of.channels_)} {}
    DeviceBuffer wide[2];
    DeviceBuffer narrow[2];
  };

  /// The result of a chain: the narrow images, if they are computed.
  const DeviceBuffer& result(const Images& images) const {
    return size_.next == 0 ? images.wide[1] : images.narrow[1];
  }

  /// Reads what link `i` - 1 has written.
  cudaError_t link(int i, const Images& images, const LaunchOptions& options) const {
    const int to = i % 2;
    const void* const x = i == 0 || size_.next == 0 ? x_.get() : images.narrow[1 - to].get();
    const void* const shortcut = i == 0 ? shortcut_.get() : images.wide[1 - to].get();
    return launch_bottleneck(way_, arguments(x, shortcut, images.wide[to].get(), images.narrow[to].get()),
                             type_, size_, options);
  }

 private:
  BottleneckArgs arguments(const void* x, const void* shortcut, void* wide, void* narrow) const {
    const auto bias = [&](const Values& values) {
      return with_biases_ ? static_cast<const float*>(values.get()) : nullptr;
    };
    return {x,
            shortcut,
            packed_window_.get(),
            packed_expand_.get(),
            packed_next_.get(),
            size_.projects ? projection_.get() : nullptr,
            bias(window_bias_),
            bias(expand_bias_),
            bias(next_bias_),
            bias(projection_bias_),
            wide,
            narrow};
  }

  static double bound(const StreamEpilogue& limits, double value) {
    return std::min(std::max(value, static_cast<double>(limits.low)), static_cast<double>(limits.high));
  }

  /// The product of row `k` of the filters and pixel `p` of an image.
  static double dot(const Values& rows, int64_t k, const Values& image, int64_t p, int64_t depth) {
    double sum = 0;
    for (int64_t c = 0; c < depth; ++c) sum += rows[k * depth + c] * image[p * depth + c];
    return sum;
  }

  Values download(const Output& output) const {
    std::vector<uint16_t> bits(output.expected.size());
    output.device.download(bits.data());
    std::vector<double> values(bits.size());
    for (size_t i = 0; i < bits.size(); ++i) {
      if (type_ == FloatType::kHalf) {
        values[i] = __half2float(__ushort_as_half(bits[i]));
      } else {
        values[i] = __bfloat162float(__ushort_as_bfloat16(bits[i]));
      }
    }
    return {values, type_};
  }

  double window(int64_t p, int64_t k) const {
    const int64_t x = p % size_.width;
    const int64_t y = p / size_.width % size_.height;
    double sum = with_biases_ ? window_bias_[k] : 0;
    for (int64_t tap = 0; tap < 9; ++tap) {
      const int64_t from_y = y + tap / 3 - 1;
      const int64_t from_x = x + tap % 3 - 1;
      if (from_y < 0 || from_y >= size_.height || from_x < 0 || from_x >= size_.width) continue;
      const int64_t from = p + (tap / 3 - 1) * size_.width + tap % 3 - 1;
      for (int64_t c = 0; c < channels_; ++c)
        sum += window_[(k * 9 + tap) * channels_ + c] * x_[from * channels_ + c];
    }
    return sum;
  }

  void expect_wide(Output& wide) {
    std::vector<double> middle(static_cast<size_t>(channels_));
    for (int64_t p = 0; p < pixels_; ++p) {
      for (int64_t k = 0; k < channels_; ++k) {
        middle[static_cast<size_t>(k)] = rounded(bound(size_.window_bounds, window(p, k)), type_);
        most_ = std::max(most_, std::abs(middle[static_cast<size_t>(k)]));
      }
      for (int64_t k = 0; k < wide_channels_; ++k) {
        double sum = with_biases_ ? expand_bias_[k] : 0;
        for (int64_t c = 0; c < channels_; ++c)
          sum += expand_[k * channels_ + c] * middle[static_cast<size_t>(c)];
        if (size_.projects) {
          sum += (with_biases_ ? projection_bias_[k] : 0) + dot(projection_, k, shortcut_, p, channels_);
        } else {
          sum += shortcut_[p * wide_channels_ + k];
        }
        wide[p * wide_channels_ + k] = bound(size_.wide_bounds, sum);
        most_ = std::max(most_, std::abs(sum));
      }
    }
  }

  /// Sums of float32, and values between the convolutions that they round the other way: the chance of that
  /// is some 64 roundings of float32 in one of the type, so that of 64 values at most two in practice are one
  /// unit off.
  double wide_slack() const {
    const double largest_filter = std::sqrt(6.0 / static_cast<double>(channels_));
    const double off = 2 * static_cast<double>(channels_) / 64;
    const double sums = 8 * kFloatRoundoff * std::sqrt(9.0 * channels_) * most_;
    return sums + 2 * off * largest_filter * unit_roundoff(type_) * most_;
  }

  Bottleneck size_;
  BottleneckWay way_;
  FloatType type_;
  bool with_biases_;
  int64_t channels_;
  int64_t wide_channels_;
  int64_t pixels_;
  int64_t shortcut_channels_;
  Values x_;
  Values shortcut_;
  Values window_;
  Values expand_;
  Values next_;
  Values packed_window_;
  Values packed_expand_;
  Values packed_next_;
  Values projection_;
  Values window_bias_;
  Values expand_bias_;
  Values next_bias_;
  Values projection_bias_;
  /// The largest magnitude so far.
  double most_ = 1;
};

struct Image {
  int64_t batch;
  int64_t height;
  int64_t width;
};

/// Rows of less, as much and more than a tile; more tiles than blocks, of which two go together, with a row
/// left over or not; ResNet's.
constexpr Image kImages[] = {{1, 1, 1},  {2, 3, 7},   {1, 5, 55},  {1, 4, 64},  {2, 2, 65}, {1, 3, 130},
                             {40, 5, 3}, {90, 2, 66}, {150, 1, 9}, {1, 56, 56}, {3, 57, 56}};

/// Images with more channels: ResNet's; rows that are one tile or several of a tile, with rows left over;
/// more tiles than run at once.
constexpr std::pair<int64_t, Image> kClusterImages[] = {
    {128, {1, 28, 28}}, {128, {1, 1, 1}},  {128, {2, 5, 7}}, {128, {3, 3, 32}}, {128, {12, 28, 28}},
    {256, {1, 14, 14}}, {256, {1, 1, 17}}, {256, {3, 5, 9}}, {256, {9, 13, 14}}};

/// Chains whose links take turns, as one graph: without and with programmatic launches, the same results.
void run_chains(Family& family, const std::deque<Case>& cases) {
  constexpr int kLinks = 8;
  std::deque<Case::Images> images;
  for (const Case& each : cases) images.emplace_back(each);
  const auto launch_each = [&] {
    for (size_t i = 0; i < cases.size(); ++i)
      family.launched(cases[i].link(0, images[i], {.device = &gpu()}), "a link");
  };
  if (!launches_are_short("a chain of bottlenecks", launch_each)) return;
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  const auto instantiate = [&](bool pdl) {
    const int links = kLinks * static_cast<int>(cases.size());
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < links && error == cudaSuccess; ++i) {
      const size_t chain = static_cast<size_t>(i) % cases.size();
      error = cases[chain].link(i / static_cast<int>(cases.size()), images[chain],
                                {.stream = stream,
                                 .device = &gpu(),
                                 .pdl = pdl && i > 0,
                                 .next_waits = pdl && i + 1 < links,
                                 .behind_cluster = i > 0});
    }
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t instance = nullptr;
    cudaStreamEndCapture(stream, &graph);
    family.launched(error, "chain");
    cudaGraphInstantiate(&instance, graph, 0);
    cudaGraphDestroy(graph);
    return instance;
  };
  const auto run = [&](cudaGraphExec_t graph) {
    for (const Case::Images& of : images) {
      for (const DeviceBuffer* buffers : {of.wide, of.narrow}) {
        for (const int i : {0, 1}) cudaMemset(buffers[i].get(), 0xff, buffers[i].bytes());
      }
    }
    cudaDeviceSynchronize();
    cudaGraphLaunch(graph, stream);
    family.launched(cudaStreamSynchronize(stream), "a graph of chains");
    std::vector<std::vector<unsigned char>> results;
    for (size_t i = 0; i < cases.size(); ++i) {
      const DeviceBuffer& result = cases[i].result(images[i]);
      results.emplace_back(result.bytes());
      result.download(results.back().data());
    }
    return results;
  };
  const cudaGraphExec_t plain = instantiate(false);
  const cudaGraphExec_t early = instantiate(true);
  const auto expected = run(plain);
  replay(200, [&] { family.expect(run(early) == expected, "a chain differs from ordinary launches"); });
  cudaGraphExecDestroy(plain);
  cudaGraphExecDestroy(early);
  cudaStreamDestroy(stream);
}

void check_images(Family& family, BottleneckWay way) {
  const StreamEpilogue relu = bounds(0, kInfinity);
  const StreamEpilogue none = bounds(-kInfinity, kInfinity);
  int turn = 0;
  for (const FloatType type : {FloatType::kHalf, FloatType::kBfloat16}) {
    for (const Image& image : kImages) {
      for (const auto& [next, projects] :
           {std::pair(64, false), std::pair(128, false), std::pair(64, true)}) {
        ++turn;
        const StreamEpilogue narrow = turn % 4 == 0 ? bounds(-0.25f, 0.5f) : turn % 4 == 1 ? none : relu;
        Case({image.batch, image.height, image.width, next, projects, turn % 5 == 0 ? none : relu,
              turn % 3 == 0 ? bounds(0, 6) : relu, narrow},
             type, turn % 2 == 0, way)
            .run(family);
      }
    }
  }
}

}  // namespace

void check_pipelined_bottleneck() {
  Family family("bottlenecks in pipelines");
  DeviceProperties device;
  if (find_device_properties(0, device) != cudaSuccess || !device.warpgroups) return;
  check_images(family, BottleneckWay::kPipelined);
}

void check_bottleneck() {
  Family family("bottlenecks");
  DeviceProperties device;
  if (find_device_properties(0, device) != cudaSuccess || !device.warpgroups) return;
  check_images(family, BottleneckWay::kUsual);
  family.expect(bottleneck({}, FloatType::kFloat, {1, 8, 8, 64}, {.device = &gpu()}) == cudaErrorInvalidValue,
                "float elements are taken");
  family.expect(bottleneck({}, FloatType::kHalf, {1, 8, 8, 96}, {.device = &gpu()}) == cudaErrorInvalidValue,
                "96 channels are taken");
}

void check_cluster_bottleneck() {
  Family family("bottlenecks in clusters");
  DeviceProperties device;
  if (find_device_properties(0, device) != cudaSuccess || !device.warpgroups) return;
  const StreamEpilogue relu = bounds(0, kInfinity);
  const StreamEpilogue none = bounds(-kInfinity, kInfinity);
  int turn = 0;
  for (const FloatType type : {FloatType::kHalf, FloatType::kBfloat16}) {
    for (const auto& [channels, image] : kClusterImages) {
      ++turn;
      Bottleneck size{image.batch,
                      image.height,
                      image.width,
                      channels,
                      false,
                      turn % 5 == 0 ? none : relu,
                      turn % 3 == 0 ? bounds(0, 6) : relu,
                      turn % 2 == 0 ? none : relu};
      size.channels = channels;
      Case(size, type, turn % 3 != 0).run(family);
      size.next = 0;
      Case(size, type, turn % 2 != 0).run(family);
    }
  }
}

void check_bottleneck_chains() {
  if (!launches_overlap("chains of bottlenecks")) return;
  Family family("chains of bottlenecks");
  DeviceProperties device;
  if (find_device_properties(0, device) != cudaSuccess || !device.warpgroups) return;
  const auto chained = [](int64_t channels, const Image& image, bool narrows = true) {
    const StreamEpilogue narrow = bounds(0, 2);
    Bottleneck size{image.batch, image.height,         image.width, channels,
                    false,       bounds(0, kInfinity), narrow,      narrow};
    size.channels = channels;
    if (!narrows) size.next = 0;
    return size;
  };
  const Bottleneck kFirst = chained(64, {1, 56, 56});
  const Bottleneck kSecond = chained(128, {1, 28, 28});
  const Bottleneck kThird = chained(256, {1, 14, 14});
  const Bottleneck kSecondLast = chained(128, {1, 28, 28}, false);
  const Bottleneck kThirdLast = chained(256, {1, 14, 14}, false);
  const std::vector<Bottleneck> kChains[] = {{kFirst},
                                             {chained(64, {90, 2, 66})},
                                             {chained(64, {8, 56, 56})},
                                             {kSecond},
                                             {kThird},
                                             {chained(256, {5, 14, 14})},
                                             // Behind kernels that leave multiprocessors idle.
                                             {kFirst, kSecond, kThird},
                                             {kSecond, kSecondLast, kThird, kThirdLast},
                                             {chained(64, {1, 2, 9}), kThird, kSecond}};
  for (const FloatType type : {FloatType::kHalf, FloatType::kBfloat16}) {
    for (const auto& sizes : kChains) {
      std::deque<Case> cases;
      for (const Bottleneck& size : sizes) cases.emplace_back(size, type, true);
      run_chains(family, cases);
    }
    for (const Image& image : {Image{1, 56, 56}, Image{90, 2, 66}, Image{8, 56, 56}}) {
      std::deque<Case> cases;
      cases.emplace_back(chained(64, image), type, true, BottleneckWay::kPipelined);
      run_chains(family, cases);
      cases.emplace_back(kThird, type, true);
      cases.emplace_back(chained(64, image), type, true);
      run_chains(family, cases);
    }
  }
}

}  // namespace hone::device::cuda::check
