// Checks of squeeze_excite.hpp.
#include "device/cuda/regions/squeeze_excite/plugin/kernels/squeeze_excite.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>

#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "post_op_check.hpp"

namespace hone::device::cuda::check {
namespace {

constexpr FloatType kNarrowTypes[] = {FloatType::kHalf, FloatType::kBfloat16};

static_assert(static_cast<int>(graph::PostOp::kSub) == static_cast<int>(graph::PostOp::kSub));

double apply(const UnaryStep& step, double x) {
  const PostOpLink link{static_cast<graph::PostOp>(step.op), step.alpha, step.beta};
  static std::optional<PostOpCase> last;  // making one allocates
  if (!last || last->epilogue.links[0].op != link.op || last->epilogue.links[0].alpha != link.alpha ||
      last->epilogue.links[0].beta != link.beta)
    last.emplace(std::vector{link}, 1, 1, 1, FloatType::kFloat);
  return last->apply(x, 0, 0, 0);
}

/// One block with random operands, and what it must give.
class Case {
 public:
  Case(const SqueezeExcite& size, FloatType type, bool with_b1, bool with_b2)
      : size_(size),
        type_(type),
        x_(size.batch * size.pixels * size.channels, type, -0.5, 1.5),
        w1_(size.hidden * size.channels, type, -2 / std::sqrt(size.channels), 2 / std::sqrt(size.channels)),
        w2_(padded_w2(), type),
        b1_(size.hidden, FloatType::kFloat),
        b2_(size.channels, FloatType::kFloat),
        with_b1_(with_b1),
        with_b2_(with_b2),
        expected_(x_.host.size()) {
    for (int64_t n = 0; n < size.batch; ++n) expect_image(n);
  }

  /// `in_place`: x lies where the result goes.
  void run(Family& family, int most_blocks, const DeviceProperties& device, bool in_place = false) {
    if (!case_is_ours()) return;
    const SqueezeExcitePlan plan = squeeze_excite_plan(size_, most_blocks, device);
    if (!has_room(plan, device)) return;
    const std::string what = std::string(type_name(type_)) + " " + std::to_string(size_.batch) + " x " +
                             std::to_string(size_.channels) + " x " + std::to_string(size_.pixels) + ", " +
                             std::to_string(size_.hidden) + " between, " + std::to_string(plan.pixel_parts) +
                             "x" + std::to_string(plan.channel_parts) + " blocks of " +
                             std::to_string(plan.shared_bytes) + " bytes, steps " +
                             std::to_string(static_cast<int>(size_.squeeze.op)) + " and " +
                             std::to_string(static_cast<int>(size_.gate.op));
    Output y(static_cast<int64_t>(expected_.size()), type_);
    y.expected = expected_;
    SqueezeExciteArgs args = arguments(y.get());
    if (in_place) {
      cudaMemcpy(y.get(), x_.get(), y.device.bytes(), cudaMemcpyDeviceToDevice);
      args.x = y.get();
    }
    family.launched(squeeze_excite(args, type_, size_, plan, {.device = &device}), what);
    family.compare(y, slack(plan), what);
  }

  /// Links that each read what the one before has written, without and with programmatic launches.
  void run_chain(Family& family, int most_blocks, const DeviceProperties& device) {
    constexpr int kLinks = 4;  // each buffer is written, read and written over
    if (!case_is_ours()) return;
    const size_t bytes = x_.host.size() * float_bytes(type_);
    const DeviceBuffer a(bytes);
    const DeviceBuffer b(bytes);
    const SqueezeExcitePlan plan = squeeze_excite_plan(size_, most_blocks, device);
    if (!has_room(plan, device)) return;
    std::vector<unsigned char> plain(bytes);
    std::vector<unsigned char> early(bytes);
    const auto run = [&](bool pdl, std::vector<unsigned char>& result) {
      cudaMemset(a.get(), 0xff, bytes);
      cudaMemset(b.get(), 0xff, bytes);
      cudaError_t error = cudaSuccess;
      for (int i = 0; i < kLinks && error == cudaSuccess; ++i) {
        SqueezeExciteArgs args = arguments((i % 2 == 0 ? a : b).get());
        if (i > 0) args.x = (i % 2 == 0 ? b : a).get();
        error = squeeze_excite(args, type_, size_, plan,
                               {.device = &device, .pdl = pdl, .next_waits = pdl && i + 1 < kLinks});
      }
      family.launched(error, "chain");
      b.download(result.data());
    };
    run(false, plain);
    replay(50, [&] {
      run(true, early);
      family.expect(std::memcmp(plain.data(), early.data(), bytes) == 0,
                    "a chain differs from ordinary launches");
    });
  }

 private:
  /// Which is said where it is not so.
  bool has_room(const SqueezeExcitePlan& plan, const DeviceProperties& device) const {
    if (plan.blocks() <= 8 || device.clusters_at_once(plan.blocks()) > 0) return true;
    std::printf("SKIPPED: the device has no room for a cluster of %d blocks\n", plan.blocks());
    return false;
  }

  SqueezeExciteArgs arguments(void* y) const {
    return {x_.get(),
            w1_.get(),
            w2_.get(),
            with_b1_ ? static_cast<const float*>(b1_.get()) : nullptr,
            with_b2_ ? static_cast<const float*>(b2_.get()) : nullptr,
            y};
  }

  std::vector<double> padded_w2() const {
    const double limit = 2 / std::sqrt(size_.hidden);
    std::uniform_real_distribution<double> uniform(-limit, limit);
    std::vector<double> values(static_cast<size_t>(size_.channels * size_.hidden_pitch()));
    for (size_t i = 0; i < values.size(); ++i) {
      if (static_cast<int64_t>(i) % size_.hidden_pitch() < size_.hidden) values[i] = uniform(generator());
    }
    return values;
  }

  void expect_image(int64_t n) {
    const int64_t channels = size_.channels;
    const int64_t first = n * size_.pixels * channels;
    std::vector<double> means(static_cast<size_t>(channels));
    for (int64_t i = 0; i < size_.pixels * channels; ++i)
      means[static_cast<size_t>(i % channels)] += x_[first + i] / static_cast<double>(size_.pixels);
    std::vector<double> hidden(static_cast<size_t>(size_.hidden));
    for (int64_t s = 0; s < size_.hidden; ++s) {
      double sum = with_b1_ ? b1_[s] : 0;
      for (int64_t c = 0; c < channels; ++c) sum += w1_[s * channels + c] * means[static_cast<size_t>(c)];
      hidden[static_cast<size_t>(s)] = sum;
      most_ = std::max(most_, std::abs(sum));
    }
    for (double& value : hidden) {
      value = apply(size_.squeeze, value);
      most_ = std::max(most_, std::abs(value));
    }
    std::vector<double> gates(static_cast<size_t>(channels));
    for (int64_t c = 0; c < channels; ++c) {
      double sum = with_b2_ ? b2_[c] : 0;
      for (int64_t s = 0; s < size_.hidden; ++s)
        sum += w2_[c * size_.hidden_pitch() + s] * hidden[static_cast<size_t>(s)];
      gates[static_cast<size_t>(c)] = sum;
      most_ = std::max(most_, std::abs(sum));
    }
    for (double& value : gates) {
      value = apply(size_.gate, value);
      most_ = std::max(most_, std::abs(value));
    }
    for (int64_t i = 0; i < size_.pixels * channels; ++i)
      expected_[static_cast<size_t>(first + i)] = x_[first + i] * gates[static_cast<size_t>(i % channels)];
  }

  /// Roundings of sums are independent: n of them come to sqrt(n) of one, eight times that for certain. A sum
  /// of a block goes through `rounds` additions, then `rows`, then one a block. Rows of weights have norms
  /// up to 2. No activation is steeper than 2; with __expf they are right to 64 roundings.
  double slack(const SqueezeExcitePlan& plan) const {
    constexpr double kCertain = 8;
    constexpr double kSteepest = 2;
    constexpr double kNorm = 2;
    const double magnitude = 2 + most_;
    const auto sum = [&](double additions) {
      return kCertain * kFloatRoundoff * std::sqrt(additions) * magnitude;
    };
    const double activation = 64 * kFloatRoundoff * magnitude;
    const double means = sum(plan.rounds + plan.rows + plan.blocks());
    const double hidden =
        kSteepest * (kNorm * means + sum(static_cast<double>(size_.channels) + 8)) + activation;
    const double gates =
        kSteepest * (kNorm * kCertain * hidden + sum(static_cast<double>(size_.hidden) + 8)) + activation;
    return 1.5 * gates + 2 * kFloatRoundoff * magnitude;
  }

  SqueezeExcite size_;
  FloatType type_;
  Values x_;
  Values w1_;
  Values w2_;
  Values b1_;
  Values b2_;
  bool with_b1_;
  bool with_b2_;
  std::vector<double> expected_;
  /// The largest magnitude between x and y.
  double most_ = 0;
};

struct Layer {
  int64_t channels;
  int64_t pixels;
  int64_t hidden;
};

/// EfficientNet-B0's.
constexpr Layer kLayers[] = {{32, 112 * 112, 8}, {96, 56 * 56, 4},   {144, 56 * 56, 6},  {144, 28 * 28, 6},
                             {240, 28 * 28, 10}, {240, 14 * 14, 10}, {480, 14 * 14, 20}, {672, 14 * 14, 28},
                             {672, 7 * 7, 28},   {1152, 7 * 7, 48}};
constexpr Layer kOdd[] = {{8, 1, 1}, {8, 35, 1}, {24, 35, 1}, {24, 1, 5}, {40, 9, 3}, {72, 35, 17}};
/// Apart, since compute-sanitizer takes minutes for them.
constexpr Layer kLargeOdd[] = {{8, 5000, 40}, {1000, 2, 512}, {2048, 49, 128}, {4096, 3, 1},
                               {4104, 1, 9},  {8192, 2, 2},   {256, 784, 16},  {600, 300, 9}};

constexpr UnaryStep kSwish{graph::PostOp::kSwish, 1, 0};
constexpr UnaryStep kSigmoid{graph::PostOp::kSigmoid, 0, 0};

struct Devices {
  DeviceProperties whole;
  /// Little memory: weights stay where they are, and images are read twice.
  DeviceProperties small;

  /// False where the kernel does not run.
  bool read() {
    if (find_device_properties(0, whole) != cudaSuccess || !whole.clusters) return false;
    small = whole;
    small.shared_memory = 80 << 10;
    return true;
  }
};

/// With and without either bias in turn.
void check_odd(Family& family, const Devices& devices, FloatType type, std::span<const Layer> layers) {
  const UnaryStep relu{graph::PostOp::kRelu, 0, 0};
  int turn = 0;
  for (const Layer& layer : layers) {
    for (const int64_t batch : {1, 20}) {
      ++turn;
      Case test({batch, layer.channels, layer.pixels, layer.hidden, relu, kSigmoid}, type, turn % 2 == 0,
                turn / 2 % 2 == 0);
      for (const int most : {16, 8, 4, 2}) test.run(family, most, devices.whole);
      test.run(family, 8, devices.small);
      test.run(family, 2, devices.small, true);
    }
  }
}

}  // namespace

void check_squeeze_excite_layers() {
  Family family("EfficientNet's gates");
  Devices devices;
  if (!devices.read()) return;
  for (const FloatType type : kNarrowTypes) {
    check_odd(family, devices, type, kLargeOdd);
    for (const Layer& layer : kLayers) {
      for (const int64_t batch : {1, 3, 8}) {
        Case test({batch, layer.channels, layer.pixels, layer.hidden, kSwish, kSigmoid}, type, true, true);
        for (const int most : {16, 8, 4, 2}) test.run(family, most, devices.whole);
        test.run(family, 8, devices.small);
        test.run(family, 8, devices.whole, true);
      }
    }
  }
}

void check_squeeze_excite_chains() {
  Family family("chains of EfficientNet's gates");
  Devices devices;
  if (!devices.read()) return;
  for (const FloatType type : kNarrowTypes) {
    Case({1, 1152, 49, 48, kSwish, kSigmoid}, type, true, true).run_chain(family, 16, devices.whole);
    Case({20, 240, 196, 10, kSwish, kSigmoid}, type, true, true).run_chain(family, 8, devices.whole);
    // Whose pixels lie in shared memory, and with an activation that is not compiled.
    Case({1, 32, 112 * 112, 8, {graph::PostOp::kRelu, 0, 0}, kSigmoid}, type, true, true)
        .run_chain(family, 8, devices.whole);
  }
}

void check_squeeze_excite() {
  Family family("squeeze and excitation");
  Devices devices;
  if (!devices.read()) return;
  for (const FloatType type : kNarrowTypes) {
    check_odd(family, devices, type, kOdd);
    for (int op = 0; op < static_cast<int>(graph::PostOp::kAdd); ++op) {
      const UnaryStep step{static_cast<graph::PostOp>(op), 0.25f, 0.75f};
      Case({2, 48, 35, 6, step, kSigmoid}, type, true, false).run(family, 8, devices.whole);
      Case({2, 48, 35, 6, kSwish, step}, type, false, true).run(family, 8, devices.whole);
      Case({2, 48, 35, 6, {}, step}, type, false, false).run(family, 8, devices.whole);
    }
    // Pixels in registers, few and many, in shared memory, and more than fit.
    for (const int64_t pixels : {140, 1500, 2400}) {
      Case test({2, 40, pixels, 6, kSwish, kSigmoid}, type, true, true);
      for (const int most : {16, 2}) test.run(family, most, devices.whole);
      test.run(family, 2, devices.small);
    }
  }
  const DeviceProperties& device = devices.whole;
  family.expect(
      squeeze_excite({}, FloatType::kFloat, {1, 8, 1, 1}, {}, {.device = &device}) == cudaErrorInvalidValue,
      "float elements are taken");
  family.expect(
      squeeze_excite({}, FloatType::kHalf, {1, 12, 1, 1}, {}, {.device = &device}) == cudaErrorInvalidValue,
      "12 channels are taken");
}

}  // namespace hone::device::cuda::check
