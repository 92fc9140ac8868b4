// Quantized networks as the CPU runs them against the reference, with random shapes, scales, zero points and
// corners of the types.
#include <gtest/gtest.h>

#include <random>

#include "device/cpu/cpu_steps.hpp"
#include "transform/pass.hpp"

namespace hone::device {
namespace {

using graph::ValueId;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using test::AttributeList;
using test::GraphBuilder;

/// Builds quantized networks out of random choices, the same ones for the same seed.
class Network {
 public:
  explicit Network(uint32_t seed) : generator_(seed) {}

  int64_t pick(std::initializer_list<int64_t> choices) {
    return choices.begin()[generator_() % choices.size()];
  }
  bool coin() { return generator_() % 2 == 0; }
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(generator_()) / 4294967296.0;
  }

  /// Numbers of all of the type, its corners more often than others.
  Tensor bytes(const Shape& shape, DType dtype) {
    const double low = dtype == DType::kInt8 ? -128 : 0;
    std::vector<double> values(static_cast<size_t>(tensor::element_count(shape)));
    for (double& value : values)
      value = generator_() % 8 == 0 ? (coin() ? low : low + 255) : std::floor(between(low, low + 256));
    return Tensor::of<double>(values, shape).cast(dtype);
  }

  DType byte_type() { return coin() ? DType::kInt8 : DType::kUInt8; }

  ValueId zero_point(DType dtype) {
    const double low = dtype == DType::kInt8 ? -128 : 0;
    const double middle = low + 128;
    const double zero = coin() ? middle : coin() ? low : std::floor(between(low, low + 256));
    return b.constant(Tensor::of<double>({zero}, {}).cast(dtype));
  }

  ValueId scale(double low, double high) { return b.scalar(static_cast<float>(between(low, high))); }

  /// x = dequantized(input of bytes).
  ValueId input(const std::string& name, const Shape& shape, double low, double high) {
    const DType dtype = byte_type();
    const ValueId x = b.input(name, graph::Dims(shape.begin(), shape.end()), dtype);
    inputs.push_back(bytes(shape, dtype));
    return b.node("DequantizeLinear", {x, scale(low, high), zero_point(dtype)});
  }

  ValueId weights(const Shape& shape, int64_t axis) {
    const int64_t channels = shape[static_cast<size_t>(axis)];
    const bool each = coin();
    const Shape scales = each ? Shape{channels} : Shape{};
    const ValueId zeros =
        b.constant(Tensor::of<double>(std::vector<double>(each ? static_cast<size_t>(channels) : 1), scales)
                       .cast(DType::kInt8));
    const ValueId numbers = b.constant(bytes(shape, DType::kInt8));
    return b.node("DequantizeLinear", {numbers, b.random(scales, 0.001, 0.01), zeros}, {{"axis", axis}});
  }

  ValueId quantized(ValueId x, double low, double high) {
    const DType dtype = byte_type();
    return b.node("QuantizeLinear", {x, scale(low, high), zero_point(dtype)});
  }

  /// The same and back again.
  ValueId rounded(ValueId x, double low, double high) {
    const DType dtype = byte_type();
    const ValueId s = scale(low, high);
    const ValueId z = zero_point(dtype);
    return b.node("DequantizeLinear", {b.node("QuantizeLinear", {x, s, z}), s, z});
  }

  ValueId activated(ValueId x) {
    switch (generator_() % 6) {
      case 0: return b.node("Relu", {x});
      case 1: return b.node("Clip", {x, b.scalar(0), b.scalar(6)});
      case 2: return b.node("LeakyRelu", {x}, {{"alpha", 0.1f}});
      case 3: return b.node("HardSwish", {x});
      default: return x;
    }
  }

  GraphBuilder b;
  std::vector<Tensor> inputs;

 private:
  std::mt19937 generator_;
};

/// Runs the network after the device's passes. Integers may differ by one where a number is as close to a tie
/// as float32 cannot tell, numbers as far as one in 10^4 does.
void expect_right(const graph::Graph& graph, const std::vector<Tensor>& inputs, const std::string& kind,
                  const std::string& where) {
  const engine::Device& device = device::cpu::cpu_device();
  graph::Graph optimized = graph;
  transform::PassOptions options;
  options.requested = device.passes(engine::Precision::kFp32, 0);
  transform::optimize(optimized, options);
  const bool made = std::any_of(optimized.nodes.begin(), optimized.nodes.end(),
                                [&](const graph::Node& node) { return graph::kind_of(node) == kind; });
  EXPECT_TRUE(made) << where << ": " << test::structure(optimized);
  engine::WeightStore weights;
  const std::shared_ptr<const engine::Program> program =
      engine::build_program(std::make_shared<const graph::Graph>(optimized), device, weights, {});
  for (const engine::ProgramStep& step : program->steps()) EXPECT_FALSE(step.runs_on_host()) << step.name;
  const auto actual = engine::Execution(program, device).run(inputs);
  const auto expected = reference::run_graph(graph, inputs);
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(actual[i].dtype(), expected[i].dtype()) << where;
    if (tensor::is_floating(expected[i].dtype())) {
      EXPECT_LE(test::relative_error(actual[i], expected[i]), 1e-4) << where;
      continue;
    }
    const auto a = actual[i].to_double();
    const auto e = expected[i].to_double();
    size_t different = 0;
    for (size_t k = 0; k < e.size(); ++k) {
      ASSERT_NEAR(a[k], e[k], 1) << where << ", element " << k;
      different += a[k] != e[k] ? 1 : 0;
    }
    EXPECT_LE(different, 1 + e.size() / 500) << where << ", of " << e.size();
  }
}

class CpuQuantized : public testing::TestWithParam<int> {};

TEST_P(CpuQuantized, Convolves) {
  const auto seed = static_cast<uint32_t>(GetParam());
  Network n(seed);
  const int64_t group = n.pick({1, 1, 1, 4, 16});
  const int64_t channels = group == 1 ? n.pick({3, 8, 16, 19, 32}) : 16;
  const int64_t filters = group == 16 ? 16 : n.pick({4, 8, 20, 64});
  const int64_t kernel = n.pick({1, 1, 3, 5});
  const int64_t stride = n.pick({1, 1, 2});
  const int64_t pad = kernel == 1 ? 0 : n.pick({0, 1, 2});
  const Shape shape = {n.pick({1, 2}), channels, n.pick({5, 8, 13}), n.pick({7, 9, 12})};
  const ValueId x = n.input("x", shape, 0.005, 0.03);
  const ValueId w = n.weights({filters, channels / group, kernel, kernel}, 0);
  std::vector<ValueId> operands = {x, w};
  if (n.coin()) operands.push_back(n.b.random({filters}, -1, 1));
  ValueId y = n.b.node("Conv", operands,
                       {{"strides", std::vector<int64_t>{stride, stride}},
                        {"pads", std::vector<int64_t>{pad, pad, pad, pad}},
                        {"group", group}});
  const int64_t form = n.pick({0, 1, 2, 3, 4});
  if (form == 0)
    return expect_right(n.b.finish({y}), n.inputs, "quantized_product", fmt::format("seed {}", seed));
  const bool adds = form >= 2;
  if (!adds || n.coin()) y = n.activated(y);
  if (form == 3) y = n.rounded(y, 0.02, 0.1);
  if (adds) {
    Shape other;
    for (const graph::Dim& dim : *n.b.type(y).dims) other.push_back(dim.value());
    const ValueId r = n.input("r", other, 0.01, 0.05);
    y = n.coin() ? n.b.node("Add", {y, r}) : n.b.node("Add", {r, y});
    y = n.activated(y);
  }
  if (form == 4) y = n.activated(n.rounded(y, 0.02, 0.1));
  y = n.quantized(y, 0.02, 0.1);
  expect_right(n.b.finish({y}), n.inputs, "quantized_product", fmt::format("seed {}", seed));
}

TEST_P(CpuQuantized, Multiplies) {
  const auto seed = static_cast<uint32_t>(GetParam());
  Network n(1000 + seed);
  const int64_t depth = n.pick({7, 16, 33, 64});
  const int64_t columns = n.pick({1, 5, 16, 48});
  const Shape shape = n.coin() ? Shape{n.pick({1, 6, 17}), depth} : Shape{2, n.pick({3, 9}), depth};
  const ValueId x = n.input("x", shape, 0.005, 0.03);
  const bool transposed = shape.size() == 2 && n.coin();
  ValueId y;
  if (transposed) {
    const ValueId w = n.weights({columns, depth}, 0);
    y = n.b.node("Gemm", {x, w, n.b.random({columns}, -1, 1)}, {{"transB", int64_t{1}}});
  } else {
    y = n.b.node("MatMul", {x, n.weights({depth, columns}, 1)});
  }
  if (n.coin()) y = n.rounded(y, 0.02, 0.1);
  if (n.coin()) y = n.b.node("Add", {y, n.b.random({columns}, -1, 1)});
  y = n.activated(y);
  if (n.coin()) y = n.quantized(y, 0.02, 0.1);
  expect_right(n.b.finish({y}), n.inputs, "quantized_product", fmt::format("seed {}", seed));
}

TEST_P(CpuQuantized, MapsAndPools) {
  const auto seed = static_cast<uint32_t>(GetParam());
  Network n(2000 + seed);
  const Shape shape = {n.pick({1, 2}), n.pick({3, 16, 21}), n.pick({6, 9}), n.pick({5, 8})};
  ValueId y = n.input("x", shape, 0.01, 0.05);
  const std::string where = fmt::format("seed {}", seed);
  switch (n.pick({0, 1, 2, 3, 4, 5})) {
    case 4: {
      // A table of one byte, though two operands are read.
      const ValueId gate = n.rounded(n.b.node(n.coin() ? "Sigmoid" : "HardSigmoid", {y}), 0.003, 0.01);
      y = n.coin() ? n.b.node("Mul", {y, gate}) : n.b.node("Mul", {gate, y});
      return expect_right(n.b.finish({n.quantized(y, 0.01, 0.03)}), n.inputs, "quantized_map", where);
    }
    case 5: {
      const ValueId gate = n.input("gate", {n.coin() ? shape[0] : 1, shape[1], 1, 1}, 0.003, 0.01);
      y = n.b.node("Mul", {gate, y});
      return expect_right(n.b.finish({n.quantized(y, 0.01, 0.03)}), n.inputs, "quantized_map", where);
    }
    case 0:
      y = n.b.node("GlobalAveragePool", {y});
      return expect_right(n.b.finish({n.quantized(y, 0.01, 0.03)}), n.inputs, "quantized_pool", where);
    case 1: {
      const int64_t pad = n.pick({0, 1});
      y = n.b.node("AveragePool", {y},
                   {{"kernel_shape", std::vector<int64_t>{3, 3}},
                    {"strides", std::vector<int64_t>{2, 2}},
                    {"pads", std::vector<int64_t>{pad, pad, pad, pad}},
                    {"count_include_pad", n.pick({0, 1})}});
      return expect_right(n.b.finish({n.quantized(y, 0.01, 0.03)}), n.inputs, "quantized_pool", where);
    }
    case 2:
      y = n.b.node("Sigmoid", {n.activated(y)});
      return expect_right(n.b.finish({n.quantized(y, 0.003, 0.01)}), n.inputs, "quantized_map", where);
    default: {
      const ValueId r = n.input("r", shape, 0.01, 0.05);
      y = n.activated(n.b.node(n.coin() ? "Add" : "Mul", {y, r}));
      return expect_right(n.b.finish({n.quantized(y, 0.02, 0.1)}), n.inputs, "quantized_map", where);
    }
  }
}

TEST_P(CpuQuantized, QuantizesByTheRange) {
  const auto seed = static_cast<uint32_t>(GetParam());
  Network n(3000 + seed);
  const bool conv = n.coin();
  const int64_t channels = n.pick({3, 8, 24});
  const int64_t filters = n.pick({1, 5, 16});
  const Shape shape = conv ? Shape{1, channels, 7, 6} : n.coin() ? Shape{5, channels} : Shape{2, 3, channels};
  const auto x =
      n.b.nodes("DynamicQuantizeLinear", {n.b.input("x", graph::Dims(shape.begin(), shape.end()))}, 3);
  const ValueId zero = n.b.constant(Tensor::of<double>({0}, {}).cast(DType::kInt8));
  const ValueId w =
      n.b.constant(n.bytes(conv ? Shape{filters, channels, 3, 3} : Shape{channels, filters}, DType::kInt8));
  const ValueId sums = n.b.node(conv ? "ConvInteger" : "MatMulInteger", {x[0], w, x[2], zero});
  const ValueId numbers = n.b.node("Cast", {sums}, {{"to", static_cast<int64_t>(DType::kFloat32)}});
  const Shape each = conv ? Shape{filters, 1, 1} : Shape{filters};
  const ValueId scale =
      n.b.node("Mul", {x[1], n.coin() ? n.b.random(each, 0.001, 0.01) : n.b.scalar(0.004f)});
  ValueId y = n.b.node("Mul", {numbers, scale});
  if (n.coin()) y = n.b.node("Add", {y, n.b.random(each, -1, 1)});
  y = n.activated(y);
  const graph::Graph graph = n.b.finish({y});
  expect_right(graph, test::random_inputs(graph, seed, 1), "integer_product", fmt::format("seed {}", seed));
}

INSTANTIATE_TEST_SUITE_P(Seeds, CpuQuantized, testing::Range(0, 60));

/// Convolution, pool, residual block and concatenation keep to bytes: no step dequantizes or quantizes
/// between.
TEST(CpuQuantizedNetwork, KeepsBytesBetweenSteps) {
  GraphBuilder b;
  const auto zero = b.constant(Tensor::of<double>({0}, {}).cast(DType::kUInt8));
  const auto rounded = [&](ValueId x, float scale) {
    return b.node("DequantizeLinear",
                  {b.node("QuantizeLinear", {x, b.scalar(scale), zero}), b.scalar(scale), zero});
  };
  Network n(7);
  const auto weights = [&](const Shape& shape) {
    const auto numbers = b.constant(n.bytes(shape, DType::kInt8));
    return b.node("DequantizeLinear", {numbers, b.scalar(0.004f)});
  };
  const AttributeList same = {{"pads", std::vector<int64_t>{1, 1, 1, 1}}};
  ValueId x = rounded(b.input("x", {1, 3, 16, 16}), 0.02f);
  x = rounded(b.node("Relu", {b.node("Conv", {x, weights({16, 3, 3, 3})}, same)}), 0.05f);
  x = rounded(b.node("MaxPool", {x}, {{"kernel_shape", std::vector<int64_t>{2, 2}}}), 0.05f);
  ValueId y = rounded(b.node("Relu", {b.node("Conv", {x, weights({16, 16, 3, 3})}, same)}), 0.3f);
  y = rounded(b.node("Conv", {y, weights({16, 16, 3, 3})}, same), 1.5f);
  y = rounded(b.node("Relu", {b.node("Add", {y, x})}), 1.0f);
  y = rounded(b.node("Concat", {x, y}, {{"axis", int64_t{1}}}), 1.0f);
  y = rounded(b.node("GlobalAveragePool", {y}), 0.5f);
  y = rounded(b.node("Reshape", {y, b.ints({1, 32})}), 0.5f);
  y = b.node("Gemm", {y, weights({10, 32})}, {{"transB", int64_t{1}}});
  graph::Graph graph = b.finish({y});
  const auto inputs = test::random_inputs(graph, 3, 1);
  const auto expected = reference::run_graph(graph, inputs);
  const engine::Device& device = device::cpu::cpu_device();
  transform::PassOptions options;
  options.requested = device.passes(engine::Precision::kFp32, 0);
  transform::optimize(graph, options);
  EXPECT_EQ(
      test::structure(graph),
      "QuantizeLinear quantized_product MaxPool quantized_product quantized_product quantized_map Concat "
      "quantized_pool Reshape quantized_product");
  engine::WeightStore store;
  const std::shared_ptr<const engine::Program> program =
      engine::build_program(std::make_shared<const graph::Graph>(graph), device, store, {});
  const auto actual = engine::Execution(program, device).run(inputs);
  EXPECT_LE(test::relative_error(actual[0], expected[0]), 0.01);
}

/// A convolution whose weights have zero points off the middle computes in floating point, in float32
/// whatever the engine's precision: bfloat16 would move one result in a few to a neighbour.
TEST(CpuQuantizedNetwork, KeepsFloat32BetweenBytes) {
  Network n(13);
  const ValueId x = n.input("x", {1, 32, 8, 8}, 0.01, 0.02);
  const ValueId zero = n.b.constant(Tensor::of<double>({3}, {}).cast(DType::kInt8));
  const ValueId numbers = n.b.constant(n.bytes({16, 32, 3, 3}, DType::kInt8));
  const ValueId w = n.b.node("DequantizeLinear", {numbers, n.b.scalar(0.004f), zero});
  const graph::Graph graph = n.b.finish({n.quantized(n.b.node("Conv", {x, w}), 0.05, 0.06)});
  const engine::Device& device = device::cpu::cpu_device();
  graph::Graph optimized = graph;
  transform::PassOptions options;
  options.requested = device.passes(engine::Precision::kBf16, 0);
  transform::optimize(optimized, options);
  engine::WeightStore store;
  const std::shared_ptr<const engine::Program> program =
      engine::build_program(std::make_shared<const graph::Graph>(optimized), device, store,
                            {.policy = device.policy_for(engine::Precision::kBf16)});
  const auto actual = engine::Execution(program, device).run(n.inputs)[0].to_double();
  const auto expected = reference::run_graph(graph, n.inputs)[0].to_double();
  size_t different = 0;
  for (size_t i = 0; i < expected.size(); ++i) different += actual[i] != expected[i] ? 1 : 0;
  EXPECT_LE(different, expected.size() / 500);
}

/// A quantized step runs as its pieces in floating point if the search finds that faster, or if no tactic
/// takes it.
TEST(CpuQuantizedNetwork, DissolvesIntoFloatingPoint) {
  Network n(11);
  const ValueId x = n.input("x", {1, 8, 6, 6}, 0.01, 0.02);
  const ValueId w = n.weights({8, 8, 3, 3}, 0);
  const graph::Graph given = n.b.finish({n.quantized(n.b.node("Conv", {x, w}), 0.02, 0.1)});
  const engine::Device& device = device::cpu::cpu_device();
  graph::Graph graph = given;
  transform::PassOptions options;
  options.requested = device.passes(engine::Precision::kFp32, 0);
  transform::optimize(graph, options);
  ASSERT_EQ(graph.nodes.size(), 1U);
  engine::ProgramOptions program_options;
  program_options.plans[{0, {}}] = {{std::string(engine::kDissolved), {}}, engine::Layout::kPlain, {}, 0};
  engine::WeightStore store;
  const std::shared_ptr<const engine::Program> program =
      engine::build_program(std::make_shared<const graph::Graph>(graph), device, store, program_options);
  for (const engine::ProgramStep& step : program->steps()) {
    EXPECT_FALSE(step.runs_on_host()) << step.name;
    EXPECT_NE(step.kind, "quantized_product");
  }
  const auto actual = engine::Execution(program, device).run(n.inputs)[0].to_double();
  const auto expected = reference::run_graph(given, n.inputs)[0].to_double();
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1);
}

}  // namespace
}  // namespace hone::device
