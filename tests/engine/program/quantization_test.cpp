// Values between steps that are kept as quantized integers: who reads them otherwise gets them requantized.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/fake_device.hpp"
#include "engine/program/execution.hpp"
#include "support/equivalence.hpp"

namespace hone::engine {
namespace {

using test::GraphBuilder;
using ::testing::ElementsAre;

class Clamp final : public Kernel {
 public:
  Clamp(int8_t low, int64_t count) : low_(low), count_(count) {}
  void run(const Run& run) const override {
    const auto* x = static_cast<const int8_t*>(run.inputs[0]);
    auto* y = static_cast<int8_t*>(run.outputs[0]);
    for (int64_t i = 0; i < count_; ++i) y[i] = std::max(x[i], low_);
  }

 private:
  int8_t low_;
  int64_t count_;
};

/// Relu on int8 of one quantization.
Tactic quantized_relu(int32_t quantization) {
  return {.name = "quantized", .make = [quantization](const StepRequest& request, WeightStore&) {
            const auto& known = request.quantizations[static_cast<size_t>(quantization)];
            Offer offer;
            offer.inputs = {{DType::kInt8, request.inputs[0].shape, Layout::kPlain, quantization}};
            offer.outputs = offer.inputs;
            offer.kernel = std::make_shared<Clamp>(static_cast<int8_t>(known.zero_points[0]),
                                                   tensor::element_count(request.inputs[0].shape));
            return offer;
          }};
}

/// Its first Relu is one tactic's, all others another's.
class Quantizing final : public FakeDevice {
 public:
  Quantizing(int32_t first, int32_t second)
      : FakeDevice({}, false), first_(quantized_relu(first)), second_(quantized_relu(second)) {}
  std::vector<const Tactic*> tactics(const graph::Node& node) const override {
    if (node.op == "Relu") return {node.name == "first" ? &first_ : &second_};
    return FakeDevice::tactics(node);
  }
  std::shared_ptr<const Kernel> make_requantization(const TensorDesc& from, const TensorDesc& to,
                                                    const tensor::Quantization* of_from,
                                                    const tensor::Quantization* of_to) const override {
    if (!requantizes) return nullptr;
    return device::cpu::cpu_device().make_requantization(from, to, of_from, of_to);
  }

  bool requantizes = true;

 private:
  Tactic first_;
  Tactic second_;
};

graph::Graph two_relus() {
  GraphBuilder b;
  graph::Graph graph = b.finish({b.node("Relu", {b.node("Relu", {b.input("x", {4, 25})})})});
  graph.nodes[0].name = "first";
  return graph;
}

const std::vector<tensor::Quantization> kTable = {{{1.0f / 32}, {0}}, {{1.0f / 40}, {-100}}};

std::unique_ptr<Program> program_of(const Device& device) {
  static WeightStore weights;
  return build_program(std::make_shared<const graph::Graph>(two_relus()), device, weights,
                       {.quantizations = kTable});
}

std::vector<std::string> kinds(const Program& program) {
  std::vector<std::string> result;
  for (const ProgramStep& step : program.steps()) result.push_back(step.kind);
  return result;
}

TEST(Quantization, AReorderRequantizesWhereTheIdsDiffer) {
  const Quantizing equal(0, 0);
  EXPECT_THAT(kinds(*program_of(equal)), ElementsAre("Reorder", "Relu", "Relu", "Copy"));
  const Quantizing different(0, 1);
  const std::shared_ptr<const Program> program = program_of(different);
  EXPECT_THAT(kinds(*program), ElementsAre("Reorder", "Relu", "Reorder", "Relu", "Copy"));
  EXPECT_EQ(program->steps()[2].outputs[0].desc.text(), "int8 4x25 plain, quantization 1");
  const auto inputs = test::random_inputs(two_relus(), 3, 1);
  const auto expected = reference::run_graph(two_relus(), inputs)[0].to_double();
  const auto actual = Execution(program, different).run(inputs)[0].to_double();
  // Half a step of each of the two scales.
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 0.5 / 32 + 0.5 / 40);
}

TEST(Quantization, ADeviceWithoutTheKernelSaysSo) {
  Quantizing device(0, 1);
  device.requantizes = false;
  try {
    program_of(device);
    FAIL() << "it was built";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("the device fake has no kernel to make int8 4x25 plain, "
                                                   "quantization 0 of"));
  }
}

TEST(Quantization, IntegersAreTheSameWithAnIdAndWithout) {
  const TensorDesc plain{DType::kInt8, {4}};
  TensorDesc one = plain;
  one.quantization = 0;
  TensorDesc other = plain;
  other.quantization = 1;
  EXPECT_TRUE(same_arrangement(plain, one)) << "a graph's own integers";
  EXPECT_FALSE(same_arrangement(one, other));
  EXPECT_FALSE(needs_requantizing(plain, {DType::kUInt8, {4}}));
  EXPECT_TRUE(needs_requantizing(one, {DType::kFloat32, {4}}));
}

}  // namespace
}  // namespace hone::engine
