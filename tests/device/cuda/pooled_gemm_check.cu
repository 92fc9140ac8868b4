// Checks of warpgroup_pooled.hpp: against plain loops in double, and against a convolution by the same tiles
// whose results are averaged after it.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_pooled.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "device/cuda/conv_problems.hpp"
#include "device/cuda/implicit_gemm_reference.cuh"
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

using Steps = std::vector<EpilogueStep>;

const EpilogueStep kAdd{graph::PostOp::kAdd};
const EpilogueStep kRelu{graph::PostOp::kRelu};

/// One convolution with random operands, and what its pool must give.
template <class T>
class PooledCase {
 public:
  /// All pixels of image `poisoned` are NaN, which must stay its own; -1: of none.
  PooledCase(const ConvProblem& problem, Steps steps, int poisoned = -1)
      : problem_(problem),
        steps_(std::move(steps)),
        pixels_(int64_t{problem.out_height()} * problem.out_width()),
        x_(image_values(poisoned), kType),
        w_(problem.filters * problem.depth(), kType, -limit(), limit()),
        bias_(problem.filters, FloatType::kFloat),
        residual_(problem.rows() * problem.filters, kType, -2, 2) {
    problem_.element = ElementOf<T>::kElement;
  }

  void run(Family& family, const DeviceProperties& device) {
    const std::vector<double> exact = reference();
    double most = 1;
    for (const double value : exact) most = std::max(most, std::abs(value));
    const std::vector<double> exact_means = means(exact);
    const std::vector<WarpgroupConfig> configs = warpgroup_pooled_configs(problem_, device);
    family.expect(!configs.empty(), name() + " has no configuration");
    for (const WarpgroupConfig& config : configs) {
      const std::string what = name() + ", " + config.text();
      Output y(int64_t{problem_.batch} * problem_.filters, kType);
      family.launched(launch_warpgroup_pooled(problem_, config, arguments(y.get()), {.device = &gpu()}),
                      what);
      y.expected = exact_means;
      family.compare(y, rounding_slack(most), what);
      y.expected = means(unpooled(family, config));
      // The same numbers, added in float.
      family.compare(y, kFloatRoundoff * static_cast<double>(pixels_) * most, what + ", of two kernels");
      const Output again(static_cast<int64_t>(y.expected.size()), kType);
      family.launched(
          launch_warpgroup_pooled(problem_, config, arguments(again.get()), {.device = &gpu(), .pdl = true}),
          what);
      family.expect(bits(again.device) == bits(y.device), what + " differs from an earlier launch");
    }
  }

  /// Behind a convolution that makes its image anew each time, without and with programmatic launches.
  void run_chain(Family& family, const DeviceProperties& device) {
    constexpr int kReplays = 50;
    const ConvProblem before = maker();
    const WarpgroupConfig maker_config = warpgroup_configs(before, device).front();
    const Values other(static_cast<int64_t>(x_.host.size()), kType);
    const DeviceBuffer image(x_.host.size() * 2);
    const size_t count = static_cast<size_t>(problem_.batch) * problem_.filters;
    const DeviceBuffer plain(2 * count * 2);
    const auto link = [&](const WarpgroupConfig& config, int i, bool pdl, bool last, const DeviceBuffer& y) {
      ConvArgs make;
      make.x = i % 2 == 0 ? x_.get() : other.get();
      make.w = w_.get();
      make.y = image.get();
      make.next_waits = pdl;
      cudaError_t error = launch_warpgroup(before, maker_config, make, {.device = &gpu(), .pdl = pdl});
      ConvArgs args = arguments(static_cast<uint16_t*>(y.get()) + i * count);
      args.x = image.get();
      args.next_waits = pdl && !last;
      if (error == cudaSuccess)
        error = launch_warpgroup_pooled(problem_, config, args, {.device = &gpu(), .pdl = pdl});
      family.launched(error, name() + ", chain");
    };
    for (const WarpgroupConfig& config : warpgroup_pooled_configs(problem_, device)) {
      const DeviceBuffer early(2 * kReplays * count * 2);
      for (const int i : {0, 1}) link(config, i, false, true, plain);
      for (int i = 0; i < 2 * kReplays; ++i) link(config, i, true, i + 1 == 2 * kReplays, early);
      const std::vector<uint16_t> expected = bits(plain);
      const std::vector<uint16_t> found = bits(early);
      for (int i = 0; i < kReplays; ++i) {
        family.expect(std::equal(expected.begin(), expected.end(), found.begin() + i * expected.size()),
                      name() + ", " + config.text() + ": a chain differs from ordinary launches");
      }
    }
  }

 private:
  static constexpr FloatType kType =
      ElementOf<T>::kElement == Element::kHalf ? FloatType::kHalf : FloatType::kBfloat16;

  /// So that sums of all depths are about as large.
  double limit() const { return std::sqrt(6.0 / static_cast<double>(problem_.depth())); }

  std::vector<double> image_values(int poisoned) const {
    const size_t image = static_cast<size_t>(problem_.height) * problem_.width * problem_.channels;
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<double> values(image * problem_.batch);
    for (double& value : values) value = uniform(generator());
    if (poisoned >= 0)
      std::fill_n(values.begin() + static_cast<int64_t>(image) * poisoned, image,
                  std::numeric_limits<double>::quiet_NaN());
    return values;
  }

  /// A convolution of 1 x 1 to the same image, whose filters are the first of this one's.
  ConvProblem maker() const {
    ConvProblem p;
    p.element = problem_.element;
    p.batch = problem_.batch;
    p.height = problem_.height;
    p.width = problem_.width;
    p.channels = p.filters = problem_.channels;
    return p;
  }

  ConvArgs arguments(void* y) const {
    ConvArgs args;
    args.x = x_.get();
    args.w = w_.get();
    args.bias = static_cast<const float*>(bias_.get());
    args.y = y;
    for (const EpilogueStep& step : steps_) {
      args.steps[args.step_count] = step;
      if (step.op == graph::PostOp::kAdd) args.steps[args.step_count].operand = residual_.get();
      ++args.step_count;
    }
    return args;
  }

  /// The right result of the convolution, in double.
  std::vector<double> reference() const {
    const auto count = static_cast<size_t>(problem_.rows()) * problem_.filters;
    const Buffer<double> values(count);
    const Buffer<double> magnitudes(count);
    run_reference(problem_, static_cast<const T*>(x_.get()), static_cast<const T*>(w_.get()),
                  arguments(nullptr), values.get(), magnitudes.get());
    return values.host();
  }

  /// The result of the convolution as a kernel of its own.
  std::vector<double> unpooled(Family& family, const WarpgroupConfig& config) const {
    const DeviceBuffer y(static_cast<size_t>(problem_.rows()) * problem_.filters * 2);
    family.launched(launch_warpgroup(problem_, config, arguments(y.get()), {.device = &gpu()}), name());
    std::vector<T> found(y.bytes() / 2);
    y.download(found.data());
    std::vector<double> values;
    for (const T element : found) values.push_back(static_cast<float>(element));
    return values;
  }

  std::vector<double> means(const std::vector<double>& values) const {
    std::vector<double> result(static_cast<size_t>(problem_.batch) * problem_.filters);
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t filter = i % problem_.filters;
      const size_t image = i / problem_.filters / static_cast<size_t>(pixels_);
      result[image * problem_.filters + filter] += rounded(values[i], kType) / static_cast<double>(pixels_);
    }
    return result;
  }

  /// Values that float32 rounds the other way before they are added: that happens to some of a thousand, so
  /// that of an image's 64 at most eight in practice are one unit off.
  double rounding_slack(double most) const {
    const auto pixels = static_cast<double>(pixels_);
    return std::min(pixels, 8.0) / pixels * 2 * unit_roundoff(kType) * most +
           kFloatRoundoff * (pixels + 8 * std::sqrt(static_cast<double>(problem_.depth()))) * most;
  }

  static std::vector<uint16_t> bits(const DeviceBuffer& device) {
    std::vector<uint16_t> result(device.bytes() / 2);
    device.download(result.data());
    return result;
  }

  std::string name() const {
    std::string text = std::string(type_name(kType)) + " " + std::to_string(problem_.batch) + " x " +
                       std::to_string(problem_.out_height()) + " x " + std::to_string(problem_.out_width()) +
                       ", " + std::to_string(problem_.channels) + " to " + std::to_string(problem_.filters) +
                       " by " + std::to_string(problem_.kernel_h) + " x " + std::to_string(problem_.kernel_w);
    for (const EpilogueStep& step : steps_) text += ", step " + std::to_string(static_cast<int>(step.op));
    return text;
  }

  ConvProblem problem_;
  Steps steps_;
  int64_t pixels_;
  Values x_;
  Values w_;
  Values bias_;
  Values residual_;
};

/// No square, windows apart, channels and filters that fill no stage and no tile.
ConvProblem odd(int batch) {
  ConvProblem p = problem(batch, 9, 24, 40, 3, 2);
  p.width = 6;
  return p;
}

template <class T>
void check_networks(Family& family, const DeviceProperties& device) {
  const EpilogueStep clip{graph::PostOp::kClip, 0, 6};
  const EpilogueStep swish{graph::PostOp::kSwish, 1};
  PooledCase<T>(problem(8, 7, 512, 2048, 1), {kAdd, kRelu}).run(family, device);  // ResNet-50
  for (const int batch : {1, 3}) {
    PooledCase<T>(problem(batch, 7, 512, 2048, 1), {kAdd, kRelu}).run(family, device);
    PooledCase<T>(problem(batch, 7, 512, 512), {kAdd, kRelu}).run(family, device);  // ResNet-18
    PooledCase<T>(problem(batch, 7, 320, 1280, 1), {clip}).run(family, device);     // MobileNetV2
    PooledCase<T>(problem(batch, 7, 320, 1280, 1), {swish}).run(family, device);    // EfficientNet-B0
    PooledCase<T>(problem(batch, 8, 512, 1000, 1), {kRelu}).run(family, device);    // all rows of a tile
    PooledCase<T>(problem(batch, 1, 64, 8, 1), {}).run(family, device);
    PooledCase<T>(problem(batch, 1, 136, 264, 1), {kAdd}).run(family, device);
    PooledCase<T>(odd(batch), {kAdd, {graph::PostOp::kClip, -0.25f, 0.5f}}).run(family, device);
    PooledCase<T>(problem(batch, 7, 160, 960, 1), {{graph::PostOp::kHardSwish}})
        .run(family, device);  // MobileNetV3
    PooledCase<T>(odd(batch), {{graph::PostOp::kSwish, 1.5f}}).run(family, device);
  }
}

void check_refusals(Family& family) {
  const auto launched = [](const ConvProblem& p, const WarpgroupConfig& config, graph::PostOp op) {
    ConvArgs args;
    args.steps[args.step_count++] = {op};
    return launch_warpgroup_pooled(p, config, args, {.device = &gpu()});
  };
  const ConvProblem good = problem(1, 7, 64, 64, 1);
  family.expect(launched(good, {64, 32, 2, 1}, graph::PostOp::kTanh) == cudaErrorInvalidValue,
                "a tanh is taken");
  family.expect(launched(good, {128, 32, 2, 1}, graph::PostOp::kRelu) == cudaErrorInvalidValue,
                "tiles of 128 rows are taken");
  family.expect(
      launched(problem(1, 9, 64, 64, 1), {64, 32, 2, 1}, graph::PostOp::kRelu) == cudaErrorInvalidValue,
      "images of 81 pixels are taken");
}

template <class T>
void check_neighbours(Family& family, const DeviceProperties& device) {
  PooledCase<T>(problem(3, 7, 64, 72), {kAdd, kRelu}, 1).run(family, device);
  PooledCase<T>(problem(8, 3, 64, 72, 1), {}, 4).run(family, device);
}

}  // namespace

void check_pooled_gemm() {
  Family family("pooled convolutions");
  DeviceProperties device;
  if (find_device_properties(0, device) != cudaSuccess || !device.warpgroups) return;
  check_refusals(family);
  check_networks<__half>(family, device);
  check_networks<__nv_bfloat16>(family, device);
  check_neighbours<__half>(family, device);
  check_neighbours<__nv_bfloat16>(family, device);
}

void check_pooled_gemm_chains() {
  if (!launches_overlap("chains of pooled ones")) return;
  Family family("chains of pooled ones");
  DeviceProperties device;
  if (find_device_properties(0, device) != cudaSuccess || !device.warpgroups) return;
  for (const int batch : {1, 8}) {
    PooledCase<__half>(problem(batch, 7, 512, 2048, 1), {kAdd, kRelu}).run_chain(family, device);
    PooledCase<__nv_bfloat16>(problem(batch, 7, 320, 1280, 1), {{graph::PostOp::kSwish, 1}})
        .run_chain(family, device);
  }
}

}  // namespace hone::device::cuda::check
