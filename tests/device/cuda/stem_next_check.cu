// Checks of launch_stem_and_next() of stem_gemm.hpp: what it pools as launch_stem() does, and the convolution
// behind that beside plain loops.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "device/cuda/regions/stem/plugin/kernels/stem_gemm.hpp"
#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

constexpr int kChannels = StemNext::kChannels;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Image {
  int batch;
  int height;
  int width;
};

/// ResNet's stem of random operands.
class Case {
 public:
  Case(const Image& image, FloatType type, bool has_biases)
      : image_(image),
        type_(type),
        has_biases_(has_biases),
        layout_(stem_layout(problem(image, type)).value()),
        x_(int64_t{image.batch} * 3 * image.height * image.width, FloatType::kFloat),
        other_(static_cast<int64_t>(x_.host.size()), FloatType::kFloat),
        w_(packed_stem(layout_), type),
        bias_(kChannels, FloatType::kFloat),
        next_(int64_t{kChannels} * kChannels, type, -0.3, 0.3),
        next_packed_(packed_next(next_), type),
        next_bias_(kChannels, FloatType::kFloat) {
    const ConvProblem p = problem(image, type);
    layout_.pool = StemPool{1, 1, (p.out_height() - 1) / 2 + 1, (p.out_width() - 1) / 2 + 1};
  }

  void run(Family& family, const char* name) const {
    const StemConfig config = StemConfig::parse(name).value();
    const std::string what = std::string(type_name(type_)) + " " + name + " " + std::to_string(image_.batch) +
                             " x " + std::to_string(image_.height) + " x " + std::to_string(image_.width) +
                             (has_biases_ ? ", biases" : "");
    Output pooled(elements(), type_);
    Output alone(elements(), type_);
    Output behind(elements(), type_);
    family.launched(launch_stem(layout_, config, arguments(alone), {.device = &gpu()}), what);
    family.launched(launch(config, pooled, behind, false, nullptr), what);
    family.expect(bits(pooled) == bits(alone), what + ", pooled");
    const std::vector<uint16_t> made = bits(pooled);
    double most = 1;
    for (int64_t i = 0; i < elements(); ++i) {
      const int64_t filter = i % kChannels;
      double sum = has_biases_ ? next_bias_[filter] : 0;
      for (int64_t c = 0; c < kChannels; ++c)
        sum += value(made[static_cast<size_t>(i - filter + c)]) * next_[filter * kChannels + c];
      most = std::max(most, std::abs(sum));
      behind[i] = std::max(sum, 0.0);
    }
    family.compare(behind, 8 * kFloatRoundoff * std::sqrt(kChannels) * most, what + ", behind the pool");
    repeat(family, config, bits(behind), what);
  }

 private:
  static ConvProblem problem(const Image& image, FloatType type) {
    ConvProblem p;
    p.batch = image.batch;
    p.height = image.height;
    p.width = image.width;
    p.channels = 3;
    p.filters = kChannels;
    p.kernel_h = p.kernel_w = 7;
    p.stride_h = p.stride_w = 2;
    p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = 3;
    p.element = type == FloatType::kHalf ? Element::kHalf : Element::kBFloat16;
    return p;
  }

  static std::vector<double> packed_stem(const StemLayout& layout) {
    std::vector<double> packed(layout.weight_elements(), 0.0);
    std::uniform_real_distribution<double> weight(-0.2, 0.2);
    for (int k = 0; k < kChannels; ++k) {
      for (int tap = 0; tap < 49; ++tap) {
        for (int c = 0; c < 3; ++c)
          packed[layout.weight_index(StemOrder::kFragments, k, tap / 7, tap % 7, c)] = weight(generator());
      }
    }
    return packed;
  }

  static std::vector<double> packed_next(const Values& filters) {
    std::vector<double> packed(filters.host.size());
    for (int64_t k = 0; k < kChannels; ++k) {
      for (int64_t c = 0; c < kChannels; ++c) packed[StemNext::next_index(k, c)] = filters[k * kChannels + c];
    }
    return packed;
  }

  int64_t elements() const {
    return int64_t{image_.batch} * layout_.pool->out_height * layout_.pool->out_width * kChannels;
  }

  ConvArgs arguments(Output& y) const {
    ConvArgs args;
    args.x = x_.get();
    args.w = w_.get();
    args.bias = has_biases_ ? static_cast<const float*>(bias_.get()) : nullptr;
    args.y = y.get();
    args.step_count = 1;
    args.steps[0].op = graph::PostOp::kRelu;
    return args;
  }

  /// Reads `x` where that is given.
  cudaError_t launch(const StemConfig& config, Output& pooled, Output& behind, bool pdl, cudaStream_t stream,
                     const void* x = nullptr) const {
    ConvArgs args = arguments(pooled);
    if (x != nullptr) args.x = x;
    args.next_waits = pdl;
    const StemNext next{next_packed_.get(),
                        has_biases_ ? static_cast<const float*>(next_bias_.get()) : nullptr,
                        behind.get(),
                        {StreamKind::kBounds, 0, 0, kInfinity}};
    return launch_stem_and_next(layout_, config, args, next,
                                {.stream = stream, .device = &gpu(), .pdl = pdl});
  }

  /// Launches that let each other in early leave what the last makes, where one of other pixels is ahead of
  /// it that writes to the same places.
  void repeat(Family& family, const StemConfig& config, const std::vector<uint16_t>& expected,
              const std::string& what) const {
    cudaStream_t stream = nullptr;
    cudaStreamCreate(&stream);
    replay(50, [&] {
      Output pooled(elements(), type_);
      Output behind(elements(), type_);
      for (const Values* x : {&x_, &other_, &x_})
        family.launched(launch(config, pooled, behind, true, stream, x->get()), what);
      family.launched(cudaStreamSynchronize(stream), what);
      family.expect(bits(behind) == expected, what + ", again");
    });
    cudaStreamDestroy(stream);
  }

  static std::vector<uint16_t> bits(const Output& output) {
    std::vector<uint16_t> result(output.expected.size());
    output.device.download(result.data());
    return result;
  }

  double value(uint16_t bits) const {
    return type_ == FloatType::kHalf ? __half2float(__ushort_as_half(bits))
                                     : __bfloat162float(__ushort_as_bfloat16(bits));
  }

  Image image_;
  FloatType type_;
  bool has_biases_;
  StemLayout layout_;
  Values x_;
  Values other_;  ///< other pixels
  Values w_;
  Values bias_;
  Values next_;
  Values next_packed_;
  Values next_bias_;
};

/// ResNet's, more tiles than run at once, and less than a tile with rows and columns that are none.
constexpr Image kImages[] = {{1, 224, 224}, {8, 224, 224}, {3, 20, 24}, {1, 9, 4}, {40, 64, 68}};

}  // namespace

void check_stem_next() {
  Family family("stems and what follows");
  DeviceProperties device;
  if (find_device_properties(0, device) != cudaSuccess || !device.warpgroups) return;
  int turn = 0;
  for (const FloatType type : {FloatType::kHalf, FloatType::kBfloat16}) {
    for (const Image& image : kImages) {
      for (const char* const config : {"p240x64", "p144x64"})
        Case(image, type, ++turn % 3 != 0).run(family, config);
    }
  }
}

}  // namespace hone::device::cuda::check
