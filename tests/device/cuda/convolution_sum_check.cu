// Checks of warpgroup_sum.hpp against both convolutions in double.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "device/cuda/conv_problems.hpp"
#include "device/cuda/implicit_gemm_reference.cuh"
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_sum.hpp"
#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

/// One sum with random operands, and what it must give.
template <class T>
class SumCase {
 public:
  /// The sum of all channels stays about as large whatever the depth.
  SumCase(const ConvSum& sum, EpilogueStep step, bool with_bias)
      : sum_(sum),
        step_(step),
        with_bias_(with_bias),
        x_(elements(sum.first), kType),
        w_(sum.first.filters * sum.first.depth(), kType, -limit(), limit()),
        second_x_(elements(sum.second), kType),
        second_w_(sum.second.filters * sum.second.depth(), kType, -limit(), limit()),
        bias_(sum.first.filters, FloatType::kFloat) {
    sum_.first.element = sum_.second.element = ElementOf<T>::kElement;
  }

  void run(Family& family, const DeviceProperties& device) {
    Output y(sum_.first.rows() * sum_.first.filters, kType);
    const double most = expect(y.expected);
    const double slack = 8 * kFloatRoundoff * std::sqrt(static_cast<double>(depth())) * most;
    const std::vector<WarpgroupConfig> configs = warpgroup_sum_configs(sum_, device);
    family.expect(!configs.empty(), name() + " has no configuration");
    for (const WarpgroupConfig& config : configs) {
      const std::string what = name() + ", " + config.text();
      Output made(sum_.first.rows() * sum_.first.filters, kType);
      made.expected = y.expected;
      family.launched(launch_warpgroup_sum(sum_, config, arguments(made.get()), {.device = &gpu()}), what);
      family.compare(made, slack, what);
      const DeviceBuffer again(made.device.bytes());
      family.launched(
          launch_warpgroup_sum(sum_, config, arguments(again.get()), {.device = &gpu(), .pdl = true}), what);
      family.expect(bits(again) == bits(made.device), what + " differs from an earlier launch");
    }
  }

  /// Links whose second image is what the one before has made, without and with programmatic launches.
  void run_chain(Family& family, const DeviceProperties& device) {
    constexpr int kLinks = 8;
    const size_t bytes = static_cast<size_t>(elements(sum_.second)) * 2;
    const DeviceBuffer image[2] = {DeviceBuffer(bytes), DeviceBuffer(bytes)};
    for (const WarpgroupConfig& config : warpgroup_sum_configs(sum_, device)) {
      const auto chain = [&](bool pdl) {
        for (const DeviceBuffer& buffer : image) cudaMemset(buffer.get(), 0xff, bytes);
        for (int i = 0; i < kLinks; ++i) {
          ConvSumArgs args = arguments(image[i % 2].get());
          if (i != 0) args.second_x = image[1 - i % 2].get();
          args.next_waits = pdl && i + 1 < kLinks;
          family.launched(launch_warpgroup_sum(sum_, config, args, {.device = &gpu(), .pdl = pdl}),
                          name() + ", chain");
        }
        return bits(image[(kLinks - 1) % 2]);
      };
      const std::vector<uint16_t> plain = chain(false);
      replay(25, [&] {
        family.expect(chain(true) == plain, name() + ": a chain differs from ordinary launches");
      });
    }
  }

 private:
  static constexpr FloatType kType =
      ElementOf<T>::kElement == Element::kHalf ? FloatType::kHalf : FloatType::kBfloat16;

  static int64_t elements(const ConvProblem& p) { return int64_t{p.batch} * p.height * p.width * p.channels; }
  int64_t depth() const { return sum_.first.depth() + sum_.second.depth(); }
  double limit() const { return std::sqrt(6.0 / static_cast<double>(depth())); }

  ConvSumArgs arguments(void* y) const {
    ConvSumArgs args;
    args.x = x_.get();
    args.w = w_.get();
    args.bias = with_bias_ ? static_cast<const float*>(bias_.get()) : nullptr;
    args.y = y;
    if (step_.op != graph::PostOp::kAdd) args.steps[args.step_count++] = step_;
    args.second_x = second_x_.get();
    args.second_w = second_w_.get();
    return args;
  }

  std::vector<double> convolved(const ConvProblem& problem, const Values& x, const Values& w,
                                const float* bias) const {
    const auto count = static_cast<size_t>(problem.rows()) * problem.filters;
    const Buffer<double> values(count);
    const Buffer<double> magnitudes(count);
    ConvArgs args;
    args.bias = bias;
    run_reference(problem, static_cast<const T*>(x.get()), static_cast<const T*>(w.get()), args, values.get(),
                  magnitudes.get());
    return values.host();
  }

  /// The largest magnitude among the sums.
  double expect(std::vector<double>& expected) const {
    expected = convolved(sum_.first, x_, w_, arguments(nullptr).bias);
    const std::vector<double> second = convolved(sum_.second, second_x_, second_w_, nullptr);
    double most = 1;
    for (size_t i = 0; i < expected.size(); ++i) {
      double& value = expected[i];
      value += second[i];
      most = std::max(most, std::abs(value));
      if (step_.op == graph::PostOp::kRelu) value = std::max(value, 0.0);
      if (step_.op == graph::PostOp::kClip)
        value = std::clamp(value, static_cast<double>(step_.alpha), static_cast<double>(step_.beta));
    }
    return most;
  }

  static std::vector<uint16_t> bits(const DeviceBuffer& device) {
    std::vector<uint16_t> result(device.bytes() / 2);
    device.download(result.data());
    return result;
  }

  std::string name() const {
    const auto text = [](const ConvProblem& p) {
      return std::to_string(p.channels) + " by " + std::to_string(p.kernel_h) + " x " +
             std::to_string(p.kernel_w) + " at stride " + std::to_string(p.stride_h);
    };
    return std::string(type_name(kType)) + " " + std::to_string(sum_.first.batch) + " x " +
           std::to_string(sum_.first.out_height()) + ", " + text(sum_.first) + " and " + text(sum_.second) +
           " to " + std::to_string(sum_.first.filters);
  }

  ConvSum sum_;
  EpilogueStep step_;
  bool with_bias_;
  Values x_;
  Values w_;
  Values second_x_;
  Values second_w_;
  Values bias_;
};

constexpr EpilogueStep kRelu{graph::PostOp::kRelu};
constexpr EpilogueStep kNone{graph::PostOp::kAdd};

/// Both have channels that fill no stage, and filters that fill no tile; one has no square windows.
ConvSum odd(int batch) {
  ConvSum sum{problem(batch, 9, 72, 40, 3), problem(batch, 17, 24, 40, 1, 2)};
  sum.first.kernel_w = 1;
  sum.first.pad_left = sum.first.pad_right = 0;
  return sum;
}

template <class T>
void check_networks(Family& family, const DeviceProperties& device) {
  for (const int batch : {1, 3}) {
    // ResNet-50, stages 2 to 4, and ResNet-18.
    SumCase<T>({problem(batch, 28, 128, 512, 1), problem(batch, 56, 256, 512, 1, 2)}, kRelu, true)
        .run(family, device);
    SumCase<T>({problem(batch, 28, 512, 1024, 1, 2), problem(batch, 14, 256, 1024, 1)}, kRelu, true)
        .run(family, device);
    SumCase<T>({problem(batch, 7, 512, 2048, 1), problem(batch, 14, 1024, 2048, 1, 2)}, kNone, true)
        .run(family, device);
    SumCase<T>({problem(batch, 7, 512, 512), problem(batch, 14, 256, 512, 1, 2)}, kRelu, false)
        .run(family, device);
  }
}

/// Every configuration as well, with little to multiply: what takes long under compute-sanitizer is large.
template <class T>
void check_small(Family& family, const DeviceProperties& device) {
  for (const int batch : {1, 3}) {
    SumCase<T>(odd(batch), {graph::PostOp::kClip, -0.25f, 0.5f}, true).run(family, device);
    SumCase<T>({problem(batch, 1, 8, 8, 1), problem(batch, 1, 136, 8, 1)}, kNone, false).run(family, device);
  }
}

}  // namespace

void check_convolution_sum() {
  Family family("sums of convolutions");
  DeviceProperties device;
  if (find_device_properties(0, device) != cudaSuccess || !device.warpgroups) return;
  check_small<__half>(family, device);
  check_small<__nv_bfloat16>(family, device);
  ConvSumArgs args;
  args.steps[args.step_count++] = {graph::PostOp::kTanh};
  const ConvSum small{problem(1, 8, 64, 64, 1), problem(1, 8, 64, 64, 1)};
  family.expect(
      launch_warpgroup_sum(small, {64, 64, 2, 1}, args, {.device = &gpu()}) == cudaErrorInvalidValue,
      "a tanh is taken");
}

void check_convolution_sum_layers() {
  Family family("ResNets' sums of convolutions");
  DeviceProperties device;
  if (find_device_properties(0, device) != cudaSuccess || !device.warpgroups) return;
  check_networks<__half>(family, device);
  check_networks<__nv_bfloat16>(family, device);
}

void check_convolution_sum_chains() {
  if (!launches_overlap("chains of sums")) return;
  Family family("chains of sums");
  DeviceProperties device;
  if (find_device_properties(0, device) != cudaSuccess || !device.warpgroups) return;
  for (const int batch : {1, 8}) {
    SumCase<__half>({problem(batch, 14, 256, 512, 1), problem(batch, 14, 512, 512, 1)},
                    {graph::PostOp::kClip, 0, 1}, true)
        .run_chain(family, device);
  }
}

}  // namespace hone::device::cuda::check
