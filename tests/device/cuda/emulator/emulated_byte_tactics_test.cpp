// Steps of bytes as an engine uses them, on the emulator: two products by one kernel, or one by one where
// that kernel is missing.
#include <gtest/gtest.h>

#include "backend/hone/int8_engine.hpp"
#include "device/cuda/emulator/emulated_device.hpp"
#include "engine/builder.hpp"
#include "engine/context.hpp"
#include "support/equivalence.hpp"
#include "support/regions.hpp"

namespace hone::device::cuda {
namespace {

using Ints = std::vector<int64_t>;
using tensor::Tensor;
using test::GraphBuilder;
using test::ValueId;

const std::vector<std::string> kPasses = {"quantized_weights", "quantized_fusion", "quantized_sum_fusion"};

/// Nodes of a network whose inputs and results are bytes.
class ByteBuilder : public GraphBuilder {
 public:
  ValueId zero_point(int value, bool is_unsigned) {
    return is_unsigned ? constant(Tensor::scalar<uint8_t>(static_cast<uint8_t>(value)))
                       : constant(Tensor::scalar<int8_t>(static_cast<int8_t>(value)));
  }
  ValueId input_bytes(const std::string& name, const graph::Dims& dims, float scale, int zero = 0) {
    return node("DequantizeLinear",
                {input(name, dims, tensor::DType::kUInt8), scalar(scale), zero_point(zero, true)});
  }
  ValueId quantized(ValueId x, float scale, int zero, bool is_unsigned) {
    return node("QuantizeLinear", {x, scalar(scale), zero_point(zero, is_unsigned)});
  }
  ValueId rounded(ValueId x, float scale, int zero, bool is_unsigned) {
    return node("DequantizeLinear",
                {quantized(x, scale, zero, is_unsigned), scalar(scale), zero_point(zero, is_unsigned)});
  }
  ValueId convolution(ValueId x, const tensor::Shape& filters, int64_t stride) {
    std::vector<int8_t> bytes;
    for (int64_t i = 0; i < tensor::element_count(filters); ++i)
      bytes.push_back(static_cast<int8_t>(i * 37 % 255 - 127));
    const ValueId weights = node(
        "DequantizeLinear", {constant(Tensor::of<int8_t>(bytes, filters)), random({filters[0]}, 0.001, 0.01)},
        {{"axis", int64_t{0}}});
    return node("Conv", {x, weights, random({filters[0]})},
                {{"strides", Ints{stride, stride}}, {"pads", Ints(4, filters[2] / 2)}});
  }
};

/// A block whose shortcut is projected; its bytes have a sign or none.
graph::Graph block(bool unsigned_between, bool rounds_twice, bool shortcut_first) {
  ByteBuilder b;
  const ValueId x = b.input_bytes("x", {2, 16, 14, 10}, 0.5F, 1);
  const ValueId z = b.input_bytes("z", {2, 48, 7, 5}, 0.25F);
  const auto rounded = [&](ValueId value) {
    return b.rounded(value, 0.05F, unsigned_between ? 120 : -9, unsigned_between);
  };
  ValueId shortcut = shortcut_first ? rounded(b.convolution(x, {80, 16, 1, 1}, 2)) : ValueId();
  ValueId main = b.convolution(z, {80, 48, 3, 3}, 1);
  if (rounds_twice || !shortcut_first) main = rounded(main);
  if (!shortcut_first) {
    shortcut = b.convolution(x, {80, 16, 1, 1}, 2);
    if (rounds_twice) shortcut = rounded(shortcut);
  }
  // By this scale no sum of rounded numbers lies in the middle between two bytes.
  return b.finish({b.quantized(b.node("Relu", {b.node("Add", {main, shortcut})}), 0.0437F, 0, true)});
}

/// The tactics of an engine's steps, after it has computed what the graph says but for some roundings.
std::string tactics_of(const graph::Graph& graph, const std::vector<std::string>& passes,
                       const char* without = "") {
  const emulator::EmulatedDevice device(passes, without);
  engine::BuildOptions options;
  options.precision = tensor::Precision::kFp16;
  options.optimization_level = 0;
  const auto engine = engine::build_engine(graph, device, options);
  engine::Context context(engine, device, 1);
  const auto inputs = test::random_inputs(graph, 3, 1);
  const auto expected = reference::run_graph(graph, inputs)[0].to_double();
  const auto actual = context.run(inputs)[0].to_double();
  EXPECT_EQ(emulator::take_faults(), "");
  EXPECT_EQ(actual.size(), expected.size());
  size_t others = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], 2) << "element " << i;
    others += actual[i] != expected[i] ? 1 : 0;
  }
  EXPECT_LE(others, expected.size() / 100);
  EXPECT_EQ(backend::int8_shares(engine, device, graph).executed, 1);
  std::vector<engine::Shape> shapes;
  for (const auto& input : inputs) shapes.push_back(input.shape());
  std::string tactics;
  for (const engine::ProgramStep& step : context.program(shapes).steps()) {
    const std::string& name = step.plan.tactic.name;
    if (name == "reorder") continue;
    tactics += (tactics.empty() ? "" : " ") + std::string(step.is_piece() ? "of a piece: " : "") + name;
  }
  return tactics;
}

TEST(EmulatedByteTactics, ProductsOfABlockAreOneKernel) {
  for (const bool unsigned_between : {false, true}) {
    for (const bool rounds_twice : {false, true}) {
      for (const bool shortcut_first : {false, true}) {
        EXPECT_EQ(tactics_of(block(unsigned_between, rounds_twice, shortcut_first), kPasses),
                  "warpgroup_byte_sum");
      }
    }
  }
}

TEST(EmulatedByteTactics, ProductsRunOneByOneWithoutThatKernel) {
  EXPECT_EQ(tactics_of(block(true, false, true), kPasses, "warpgroup_byte_sum"),
            "of a piece: warpgroup_bytes of a piece: warpgroup_bytes");
  EXPECT_EQ(tactics_of(block(true, false, true), {"quantized_weights", "quantized_fusion"}),
            "warpgroup_bytes warpgroup_bytes");
}

}  // namespace
}  // namespace hone::device::cuda
