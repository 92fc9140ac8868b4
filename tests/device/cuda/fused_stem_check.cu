// Checks of stems with a convolution behind their pool (stem_gemm.hpp): the pool against both in double, the
// convolution against what the kernel pooled.
#include <algorithm>
#include <cmath>
#include <limits>

#include "device/cuda/conv_problems.hpp"
#include "device/cuda/implicit_gemm_reference.cuh"
#include "device/cuda/plugin/kernels/gemm_launch.hpp"
#include "device/cuda/plugin/kernels/stem_gemm.hpp"
#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

constexpr int kChannels = 64;
constexpr StemConfig kConfig{256, 64, true};
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// One stem of random operands, and what it must give.
template <class T>
class StemCase {
 public:
  StemCase(const ConvProblem& problem, int pad_top, int pad_left, StreamEpilogue bounds, bool with_biases)
      : problem_(typed(problem)),
        layout_(stem_layout(problem_).value()),
        bounds_(bounds),
        with_biases_(with_biases),
        pixels_(image_elements()),
        image_(planes(), FloatType::kFloat),
        rounded_(pixels_.host, kType),
        w_(problem.filters * problem.depth(), kType, -0.2, 0.2),
        runs_(runs(), kType),
        bias_(kChannels, FloatType::kFloat),
        next_w_(kChannels * kChannels, kType, -0.3, 0.3),
        next_bias_(kChannels, FloatType::kFloat) {
    const auto outputs = [](int size, int pad) { return (size + 2 * pad - 3 + (pad == 0 ? 1 : 0)) / 2 + 1; };
    layout_.pool = StemPool{pad_top, pad_left, outputs(problem.out_height(), pad_top),
                            outputs(problem.out_width(), pad_left)};
    layout_.next = true;
  }

  void run(Family& family) {
    const int64_t count =
        int64_t{problem_.batch} * layout_.pool->out_height * layout_.pool->out_width * kChannels;
    Output y(count, kType);
    Output next(count, kType);
    family.launched(launch(y.get(), next.get(), false), name());
    const double most = expect_pooled(y.expected);
    family.compare(y, 8 * kFloatRoundoff * std::sqrt(static_cast<double>(problem_.depth())) * most,
                   name() + ", pooled");
    const double largest = expect_next(made(y), next.expected);
    family.compare(next, 8 * kFloatRoundoff * std::sqrt(double{kChannels}) * largest, name() + ", next");
    // Launched early, behind one of itself whose results it overwrites.
    const DeviceBuffer again(y.device.bytes());
    const DeviceBuffer next_again(y.device.bytes());
    constexpr int kReplays = 20;
    for (int i = 0; i < kReplays; ++i)
      family.launched(launch(again.get(), next_again.get(), true), name() + ", early");
    family.expect(bits(again) == bits(y.device) && bits(next_again) == bits(next.device),
                  name() + " differs from an earlier launch");
  }

 private:
  static constexpr FloatType kType =
      ElementOf<T>::kElement == Element::kHalf ? FloatType::kHalf : FloatType::kBfloat16;

  static ConvProblem typed(ConvProblem problem) {
    problem.element = ElementOf<T>::kElement;
    return problem;
  }

  /// As the reference reads it, channels last.
  Values image_elements() const {
    return {int64_t{problem_.batch} * problem_.height * problem_.width * problem_.channels,
            FloatType::kFloat};
  }

  std::vector<double> planes() const {
    const size_t plane = static_cast<size_t>(problem_.height) * problem_.width;
    const auto channels = static_cast<size_t>(problem_.channels);
    std::vector<double> result(pixels_.host.size());
    for (size_t i = 0; i < result.size(); ++i) {
      const size_t pixel = i / channels;
      result[(pixel / plane * channels + i % channels) * plane + pixel % plane] = pixels_.host[i];
    }
    return result;
  }

  std::vector<double> runs() const {
    std::vector<double> result(layout_.weight_elements());
    size_t next = 0;
    for (int k = 0; k < problem_.filters; ++k) {
      for (int r = 0; r < problem_.kernel_h; ++r) {
        for (int s = 0; s < problem_.kernel_w; ++s) {
          for (int c = 0; c < problem_.channels; ++c)
            result[layout_.weight_index(StemOrder::kRuns, k, r, s, c)] = w_.host[next++];
        }
      }
    }
    return result;
  }

  const float* bias(const Values& values) const {
    return with_biases_ ? static_cast<const float*>(values.get()) : nullptr;
  }

  ConvArgs arguments() const {
    ConvArgs args;
    args.bias = bias(bias_);
    args.steps[args.step_count++] = {EpilogueOp::kRelu};
    return args;
  }

  cudaError_t launch(void* y, void* next_y, bool early) const {
    ConvArgs args = arguments();
    args.x = image_.get();
    args.w = runs_.get();
    args.y = y;
    args.next_waits = early;
    return launch_stem(layout_, kConfig, args, early, nullptr,
                       {next_w_.get(), bias(next_bias_), next_y, bounds_});
  }

  /// The largest magnitude of a sum's products, all together.
  double expect_pooled(std::vector<double>& expected) const {
    const auto whole = static_cast<size_t>(problem_.rows()) * kChannels;
    const Buffer<double> values(whole);
    const Buffer<double> magnitudes(whole);
    run_reference(problem_, static_cast<const T*>(rounded_.get()), static_cast<const T*>(w_.get()),
                  arguments(), values.get(), magnitudes.get());
    const Buffer<double> pooled(expected.size());
    const Buffer<double> most(expected.size());
    const auto count = static_cast<int64_t>(expected.size());
    pool_reference<<<static_cast<unsigned>((count + 255) / 256), 256>>>(
        problem_, *layout_.pool, values.get(), magnitudes.get(), pooled.get(), most.get(), count);
    HONE_MUST(cudaGetLastError());
    expected = pooled.host();
    const std::vector<double> all = most.host();
    return *std::max_element(all.begin(), all.end());
  }

  double expect_next(const std::vector<double>& pooled, std::vector<double>& expected) const {
    double largest = 1;
    for (size_t i = 0; i < expected.size(); ++i) {
      const size_t pixel = i / kChannels * kChannels;
      const size_t filter = i % kChannels;
      double sum = with_biases_ ? next_bias_.host[filter] : 0;
      for (size_t c = 0; c < kChannels; ++c) sum += pooled[pixel + c] * next_w_.host[filter * kChannels + c];
      largest = std::max(largest, std::abs(sum));
      expected[i] = std::clamp<double>(sum, bounds_.low, bounds_.high);
    }
    return largest;
  }

  static std::vector<uint16_t> bits(const DeviceBuffer& device) {
    std::vector<uint16_t> result(device.bytes() / 2);
    device.download(result.data());
    return result;
  }

  static std::vector<double> made(const Output& output) {
    std::vector<double> values;
    for (const uint16_t each : bits(output.device)) {
      values.push_back(kType == FloatType::kHalf ? __half2float(__ushort_as_half(each))
                                                 : __bfloat162float(__ushort_as_bfloat16(each)));
    }
    return values;
  }

  std::string name() const {
    return std::string(type_name(kType)) + " " + std::to_string(problem_.batch) + " x " +
           std::to_string(problem_.height) + " x " + std::to_string(problem_.width) + " by " +
           std::to_string(problem_.kernel_h) + ", padded by " + std::to_string(layout_.pool->pad_top) +
           " and " + std::to_string(layout_.pool->pad_left) + (with_biases_ ? ", biases" : "");
  }

  ConvProblem problem_;
  StemLayout layout_;
  StreamEpilogue bounds_;
  bool with_biases_;
  Values pixels_;
  Values image_;
  Values rounded_;
  Values w_;
  Values runs_;
  Values bias_;
  Values next_w_;
  Values next_bias_;
};

constexpr StreamEpilogue kRelu{StreamKind::kBounds, 0, 0, kInfinity};
constexpr StreamEpilogue kClip{StreamKind::kBounds, 0, -0.5f, 2};
constexpr StreamEpilogue kNone{StreamKind::kBounds, 0, -kInfinity, kInfinity};

ConvProblem image(int batch, int height, int width) {
  ConvProblem p = problem(batch, 0, 3, kChannels, 7, 2);
  p.height = height;
  p.width = width;
  return p;
}

template <class T>
void check_small(Family& family) {
  for (const auto& [top, left] : {std::pair(0, 0), std::pair(0, 1), std::pair(1, 0), std::pair(1, 1)})
    StemCase<T>(image(3, 34, 36), top, left, kClip, top == left).run(family);
  StemCase<T>(image(2, 20, 28), 1, 1, kNone, true).run(family);
  StemCase<T>(problem(2, 20, 3, kChannels, 3), 1, 1, kRelu, true).run(family);
  StemCase<T>(problem(2, 20, 4, kChannels, 5, 2), 1, 1, kRelu, false).run(family);
}

bool has_warpgroups() {
  DeviceLimits device;
  return device_limits(device) == cudaSuccess && device.warpgroups;
}

}  // namespace

void check_fused_stem() {
  Family family("stems and what is behind their pools");
  if (!has_warpgroups()) return;
  check_small<__half>(family);
  check_small<__nv_bfloat16>(family);
}

/// More tiles than blocks at once as well.
void check_fused_stem_layers() {
  Family family("ResNet-50's stem and what is behind its pool");
  if (!has_warpgroups()) return;
  for (const int batch : {1, 8}) {
    StemCase<__half>(image(batch, 224, 224), 1, 1, kRelu, true).run(family);
    StemCase<__nv_bfloat16>(image(batch, 224, 224), 1, 1, kRelu, true).run(family);
  }
}

}  // namespace hone::device::cuda::check
