// Squeeze and excitation on the emulator: images parted by pixels and by channels, held in registers, kept in
// shared memory and read twice, with every form of the gates.
#include "device/cuda/emulator/emulated_kernels.hpp"
#include "device/cuda/regions/squeeze_excite/plugin/kernels/squeeze_excite.hpp"

namespace hone::device::cuda::emulated {
namespace {

constexpr UnaryStep kSwishStep{graph::PostOp::kSwish, 1, 0};
constexpr UnaryStep kSigmoidStep{graph::PostOp::kSigmoid, 0, 0};
constexpr UnaryStep kHardSigmoidStep{graph::PostOp::kHardSigmoid, 0.25F, 0.5F};
constexpr UnaryStep kReluStep{graph::PostOp::kRelu, 0, 0};

double applied_step(const UnaryStep& step, double value) {
  switch (step.op) {
    case graph::PostOp::kSigmoid: return 1 / (1 + std::exp(-value));
    case graph::PostOp::kHardSigmoid: return std::clamp<double>(step.alpha * value + step.beta, 0, 1);
    default: return applied({step.op, step.alpha, step.beta}, value, 0);
  }
}

/// A block with integers for x and multiples of 1/8 for weights.
class GatedCase {
 public:
  GatedCase(const SqueezeExcite& size, Element element)
      : size_(size),
        element_(element),
        x_(element, size.batch * size.pixels * size.channels, 3, 1),
        w1_(element, eighths(size.hidden * size.channels, 2)),
        w2_(element, padded(eighths(size.channels * size.hidden, 3))),
        b1_(Element::kFloat, size.hidden, 1, 4),
        b2_(Element::kFloat, size.channels, 1, 5) {}

  std::vector<double> expected() const {
    std::vector<double> result(x_.values.size());
    for (int64_t n = 0; n < size_.batch; ++n) {
      const float* const image = x_.values.data() + n * size_.pixels * size_.channels;
      std::vector<double> means(static_cast<size_t>(size_.channels));
      for (int64_t i = 0; i < size_.pixels * size_.channels; ++i)
        means[i % size_.channels] += image[i] / static_cast<double>(size_.pixels);
      std::vector<double> hidden(static_cast<size_t>(size_.hidden));
      for (int64_t s = 0; s < size_.hidden; ++s) {
        double sum = b1_.values[s];
        for (int64_t c = 0; c < size_.channels; ++c) sum += w1_.values[s * size_.channels + c] * means[c];
        hidden[s] = applied_step(size_.squeeze, sum);
      }
      for (int64_t c = 0; c < size_.channels; ++c) {
        double sum = b2_.values[c];
        for (int64_t s = 0; s < size_.hidden; ++s)
          sum += w2_.values[c * size_.hidden_pitch() + s] * hidden[s];
        const double gate = applied_step(size_.gate, sum);
        for (int64_t p = 0; p < size_.pixels; ++p) {
          const size_t at = (n * size_.pixels + p) * size_.channels + c;
          result[at] = x_.values[at] * gate;
        }
      }
    }
    return result;
  }

  void expect(int most_blocks, const DeviceProperties& device) const {
    const SqueezeExcitePlan plan = squeeze_excite_plan(size_, most_blocks, device);
    SCOPED_TRACE(std::to_string(size_.channels) + " x " + std::to_string(size_.pixels) + ", " +
                 std::to_string(size_.hidden) + " between, " + std::to_string(plan.pixel_parts) + " x " +
                 std::to_string(plan.channel_parts) + " blocks, " + std::to_string(plan.kept_rounds) +
                 " of " + std::to_string(plan.rounds) + " rounds kept");
    const FloatType type = element_ == Element::kHalf ? FloatType::kHalf : FloatType::kBfloat16;
    expect_output(kFewSchedules, element_, {size_.batch, size_.pixels, 1, size_.channels}, expected(), 2,
                  [&](Output& y) {
                    emulator::busy_ahead(nullptr, 0);
                    x_.be_busy();
                    y.be_busy();
                    return squeeze_excite(
                        {x_.get(), w1_.get(), w2_.get(), b1_.floats(), b2_.floats(), y.get()}, type, size_,
                        plan, {.device = &device, .pdl = true, .next_waits = true});
                  });
  }

 private:
  static std::vector<float> eighths(int64_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = static_cast<float>(static_cast<int>(random() % 5) - 2) / 8;
    return values;
  }
  std::vector<float> padded(const std::vector<float>& rows) const {
    std::vector<float> values(static_cast<size_t>(size_.channels * size_.hidden_pitch()));
    for (size_t i = 0; i < rows.size(); ++i)
      values[i / size_.hidden * size_.hidden_pitch() + i % size_.hidden] = rows[i];
    return values;
  }

  SqueezeExcite size_;
  Element element_;
  Tensor x_;
  Tensor w1_;
  Tensor w2_;
  Tensor b1_;
  Tensor b2_;
};

TEST(EmulatedSqueezeExcite, HoldsFewPixelsInRegisters) {
  const SqueezeExcite size{1, 144, 20, 20, {graph::PostOp::kSwish, 0.5F, 0}, kSigmoidStep};
  for (const int most : {16, 8, 2}) {
    const SqueezeExcitePlan plan = squeeze_excite_plan(size, most, {});
    ASSERT_TRUE(plan.holds);
    ASSERT_EQ(plan.blocks(), most);
    GatedCase(size, most == 8 ? Element::kHalf : Element::kBFloat16).expect(most, {});
  }
}

TEST(EmulatedSqueezeExcite, HoldsUpToEightPixelsAThread) {
  for (const int64_t pixels : {1100, 1500}) {
    const SqueezeExcite size{1, 40, pixels, 6, kSwishStep, kSigmoidStep};
    const SqueezeExcitePlan plan = squeeze_excite_plan(size, 2, {});
    ASSERT_TRUE(plan.holds);
    ASSERT_GT(plan.rounds, 4);
    GatedCase(size, Element::kHalf).expect(2, {});
  }
}

TEST(EmulatedSqueezeExcite, KeepsMorePixelsInSharedMemory) {
  const SqueezeExcite size{1, 40, 2000, 6, kReluStep, kHardSigmoidStep};
  ASSERT_FALSE(squeeze_excite_plan(size, 2, {}).holds);
  GatedCase(size, Element::kHalf).expect(2, {});
}

TEST(EmulatedSqueezeExcite, ReadsPixelsTwiceThatDoNotFit) {
  DeviceProperties small;
  small.shared_memory = 36 << 10;
  const SqueezeExcite size{1, 40, 2000, 6, kSwishStep, kSigmoidStep};
  const SqueezeExcitePlan plan = squeeze_excite_plan(size, 2, small);
  ASSERT_GT(plan.kept_rounds, 0);
  ASSERT_LT(plan.kept_rounds, plan.rounds);
  GatedCase(size, Element::kHalf).expect(2, small);
}

TEST(EmulatedSqueezeExcite, LeavesWeightsThatDoNotFitWhereTheyAre) {
  DeviceProperties small;
  small.shared_memory = 24 << 10;
  const SqueezeExcite size{1, 264, 4, 36, kSwishStep, kSigmoidStep};
  ASSERT_FALSE(squeeze_excite_plan(size, 2, small).keeps_weights);
  GatedCase(size, Element::kHalf).expect(2, small);
}

TEST(EmulatedSqueezeExcite, TakesARectifierAndASigmoid) {
  GatedCase({1, 48, 35, 6, kReluStep, kSigmoidStep}, Element::kHalf).expect(4, {});
}

TEST(EmulatedSqueezeExcite, GatesMayBeOfAnySize) {
  const SqueezeExcite size{2, 24, 35, 3, kReluStep, {graph::PostOp::kLeakyRelu, 0.25F, 0}};
  GatedCase(size, Element::kHalf).expect(8, {});
  GatedCase(size, Element::kBFloat16).expect(2, {});
}

}  // namespace
}  // namespace hone::device::cuda::emulated
