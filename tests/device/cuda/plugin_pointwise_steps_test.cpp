// Quantization as chains of elementwise operations, computed here step by step beside the reference, and
// windows that kernels can count.
#include "device/cuda/plugin/tactics/pointwise_steps.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "one_node.hpp"
#include "tensor/shape.hpp"

namespace hone::device::cuda {
namespace {

using test_support::GraphBuilder;
using test_support::one_node;
using test_support::OneNode;
using test_support::Shape;
using test_support::Tensor;
using test_support::ValueId;

/// The operations of these chains, in float as on the GPU; integers are exact in double.
double compute(const PointwiseStep& step, const std::vector<double>& values) {
  const auto value = [&](size_t i) { return values[static_cast<size_t>(step.arguments[i])]; };
  const auto rounded = [](double result) { return static_cast<double>(static_cast<float>(result)); };
  if (step.operation == "Cast") return rounded(value(0));
  if (step.operation == "Round") return std::nearbyint(value(0));
  if (step.operation == "Div") return rounded(value(0) / value(1));
  if (step.operation == "Add") return rounded(value(0) + value(1));
  if (step.operation == "Sub") return value(0) - value(1);
  if (step.operation == "Mul") return rounded(value(0) * value(1));
  if (step.operation == "Saturate") return value(0) > step.alpha ? std::min(value(0), step.beta) : step.alpha;
  ADD_FAILURE() << step.operation;
  return 0;
}

/// Index into an operand of that shape of an element of the output.
size_t index_in(const Shape& operand, const Shape& output, int64_t element) {
  int64_t index = 0;
  int64_t stride = 1;
  for (size_t back = 1; back <= output.size(); ++back) {
    const int64_t size = output[output.size() - back];
    const int64_t at = element % size;
    element /= size;
    if (back > operand.size()) continue;
    const int64_t extent = operand[operand.size() - back];
    index += (extent == 1 ? 0 : at) * stride;
    stride *= extent;
  }
  return static_cast<size_t>(index);
}

void expect_right(const OneNode& node) {
  node.asked([&](const engine::StepRequest& request) {
    PointwiseProgram program;
    ASSERT_EQ(read_pointwise_steps(request, program).text(), "");
    const Shape& shape = request.outputs[0].shape;
    std::vector<std::vector<double>> operands = {node.input.to_double()};
    for (size_t i = 1; i < request.inputs.size(); ++i)
      operands.push_back(request.graph.constant(request.node.inputs[i])->to_double());
    const std::vector<double> expected = node.expected()[0].to_double();
    for (size_t element = 0; element < expected.size(); ++element) {
      std::vector<double> values;
      for (size_t i = 0; i < operands.size(); ++i) {
        const Shape operand = broadcast_shape(request, i);
        ASSERT_LE(operand.size(), shape.size()) << "input " << i;
        values.push_back(operands[i][index_in(operand, shape, static_cast<int64_t>(element))]);
      }
      for (const PointwiseStep& step : program.steps) values.push_back(compute(step, values));
      EXPECT_FLOAT_EQ(static_cast<float>(values.back()), static_cast<float>(expected[element])) << element;
    }
  });
}

OneNode quantized(const Shape& shape, const Shape& scales, int64_t axis) {
  std::vector<float> values(static_cast<size_t>(tensor::element_count(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = 37.25f * static_cast<float>(i) - 300;
  std::vector<float> scale(static_cast<size_t>(tensor::element_count(scales)));
  std::vector<int8_t> zero(scale.size());
  for (size_t i = 0; i < scale.size(); ++i) {
    scale[i] = 0.5f + static_cast<float>(i);
    zero[i] = static_cast<int8_t>(3 * i);
  }
  GraphBuilder b;
  OneNode node =
      one_node(b, shape, "QuantizeLinear",
               {b.constant(Tensor::of<float>(scale, scales)), b.constant(Tensor::of<int8_t>(zero, scales))},
               {{"axis", axis}});
  node.input = Tensor::of<float>(values, shape);
  return node;
}

TEST(PointwiseSteps, QuantizeOnTheWholeAndAlongAnAxis) {
  expect_right(quantized({2, 3, 4}, {}, 1));
  expect_right(quantized({2, 3, 4}, {1}, 1));
  expect_right(quantized({2, 3, 4}, {3}, 1));
  expect_right(quantized({2, 3, 4}, {4}, -1));
  expect_right(quantized({2, 3, 4}, {2}, 0));
}

/// One scale in a vector has a dimension more than a number.
TEST(PointwiseSteps, QuantizeANumber) { expect_right(quantized({}, {1}, 1)); }

TEST(PointwiseSteps, DequantizeAlongAnAxis) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3}, tensor::DType::kInt8);
  const ValueId y = b.node("DequantizeLinear",
                           {x, b.constant(Tensor::of<float>({0.5f, 0.25f, 3}, {3})),
                            b.constant(Tensor::of<int8_t>({1, -2, 127}, {3}))},
                           {{"axis", int64_t{1}}});
  expect_right({b.finish({y}), Tensor::of<int8_t>({-128, -1, 0, 1, 2, 127}, {2, 3})});
}

TEST(Windows, BeyondWhatKernelsCountAreNone) {
  graph::WindowAxis axis;
  axis.input = axis.output = 8;
  axis.kernel = axis.stride = axis.dilation = 1;
  EXPECT_TRUE(fits_in_int({axis, axis}));
  constexpr int64_t kMuch = (int64_t{1} << 32) + 1;
  for (int64_t graph::WindowAxis::*field :
       {&graph::WindowAxis::kernel, &graph::WindowAxis::stride, &graph::WindowAxis::dilation,
        &graph::WindowAxis::pad_begin, &graph::WindowAxis::pad_end}) {
    graph::WindowAxis large = axis;
    large.*field = kMuch;
    EXPECT_FALSE(fits_in_int({axis, large}));
  }
}

}  // namespace
}  // namespace hone::device::cuda
