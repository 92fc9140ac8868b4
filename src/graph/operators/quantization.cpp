// Operator table entries of the quantization family.
#include "graph/matmul_geometry.hpp"
#include "graph/operator_table.hpp"
#include "graph/operators/attribute_defs.hpp"
#include "graph/operators/convolution_rules.hpp"
#include "graph/operators/matrix.hpp"
#include "graph/operators/type_rules.hpp"
#include "graph/scale_layout.hpp"

namespace hone::graph {
namespace {

std::optional<std::vector<int64_t>> known_shape(const TensorType& type) {
  if (!type.fully_known()) return std::nullopt;
  std::vector<int64_t> shape;
  for (const Dim& dim : *type.dims) shape.push_back(dim.value());
  return shape;
}

/// Checks that the scale (input 1) fits the data (input 0), and that the zero point (input 2) has the scale's
/// shape. ONNX Runtime's quantizer writes one of them as a scalar and the other as a vector of one element.
void check_scale(const InferenceContext& context) {
  const auto data = known_shape(context.input(0));
  const auto scale = known_shape(context.input(1));
  if (data && scale) ScaleLayout(context.attributes(), *data, *scale);
  const auto zero_point = known_shape(context.input(2));
  if (!scale || !zero_point) return;
  const bool single = tensor::element_count(*scale) == 1 && tensor::element_count(*zero_point) == 1;
  context.require(single || *scale == *zero_point, "inputs 1 and 2 have shapes {} and {}",
                  tensor::shape_text(*scale), tensor::shape_text(*zero_point));
}

bool is_quantized(DType dtype) {
  return dtype == DType::kInt8 || dtype == DType::kUInt8 || dtype == DType::kInt16 || dtype == DType::kUInt16;
}

/// The type of the zero point, else attribute output_dtype, else uint8.
DType quantized_type(const InferenceContext& context) {
  const int64_t wanted = context.attributes().get_int("output_dtype");
  context.require(wanted >= 0 && wanted <= 255, "attribute 'output_dtype' is {}", wanted);
  const auto asked = static_cast<DType>(wanted);
  DType dtype = asked;
  if (context.has_input(2)) {
    dtype = context.dtype(2);
    context.require(asked == DType::kUndefined || dtype == DType::kUndefined || asked == dtype,
                    "attribute 'output_dtype' is {}, but input 2 has type {}", tensor::dtype_name(asked),
                    tensor::dtype_name(dtype));
    if (dtype == DType::kUndefined) return asked;
  } else if (asked == DType::kUndefined) {
    dtype = DType::kUInt8;
  }
  context.require(is_quantized(dtype), "quantization to {} is not supported", tensor::dtype_name(dtype));
  return dtype;
}

void infer_quantize(InferenceContext& context) {
  if (context.dtype(0) != DType::kInt32) require_floating(context, 0);
  if (context.dtype(1) != DType::kInt32) require_floating(context, 1);
  check_scale(context);
  context.set_output(0, quantized_type(context), context.input(0).dims);
}

void infer_dequantize(InferenceContext& context) {
  require_dtype(context, 0, {DType::kInt8, DType::kUInt8, DType::kInt16, DType::kUInt16, DType::kInt32});
  require_floating(context, 1);
  require_same_dtype(context, 0, 2);
  check_scale(context);
  context.set_output(0, context.dtype(1), context.input(0).dims);
}

void infer_dynamic_quantize(InferenceContext& context) {
  require_dtype(context, 0, {DType::kFloat32});
  context.set_output(0, DType::kUInt8, context.input(0).dims);
  context.set_output(1, DType::kFloat32, Dims());
  context.set_output(2, DType::kUInt8, Dims());
}

void require_byte(const InferenceContext& context, size_t i) {
  require_dtype(context, i, {DType::kInt8, DType::kUInt8});
}

/// Requires that input i is a scalar or a vector of one element.
void require_single(const InferenceContext& context, size_t i) {
  if (!context.has_input(i) || !context.ranked(i)) return;
  const Dims& dims = context.dims(i);
  const bool single = dims.empty() || (dims.size() == 1 && (!dims[0].known() || dims[0].is(1)));
  context.require(single, "input {} has shape {}, expected a scalar", i, dims_text(dims));
}

/// Requires that input i is a scalar, a vector of one element, or has one element per channel.
void require_single_or(const InferenceContext& context, size_t i, const Dim& channels) {
  if (!context.has_input(i) || !context.ranked(i)) return;
  const Dims& dims = context.dims(i);
  if (dims.size() == 1 && !dims[0].is(1)) return check_channel_vector(context, i, channels);
  require_single(context, i);
}

Dim output_channels(const std::optional<Dims>& dims) { return dims ? (*dims)[1] : Dim(); }

void infer_conv_integer(InferenceContext& context) {
  require_byte(context, 0);
  require_byte(context, 1);
  require_same_dtype(context, 0, 2);
  require_same_dtype(context, 1, 3);
  const auto dims = convolution_output(context, 0, 1);
  require_single(context, 2);
  require_single_or(context, 3, output_channels(dims));
  context.set_output(0, DType::kInt32, dims);
}

/// Inputs: x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, bias.
void infer_qlinear_conv(InferenceContext& context) {
  for (const size_t i : {0, 3, 7}) require_byte(context, i);
  for (const size_t i : {1, 4, 6}) require_floating(context, i);
  require_same_dtype(context, 0, 2);
  require_same_dtype(context, 3, 5);
  require_dtype(context, 8, {DType::kInt32});
  const auto dims = convolution_output(context, 0, 3);
  for (const size_t i : {1, 2, 6, 7}) require_single(context, i);
  require_single_or(context, 4, output_channels(dims));
  require_single_or(context, 5, output_channels(dims));
  check_channel_vector(context, 8, output_channels(dims));
  context.set_output(0, context.dtype(7), dims);
}

std::optional<Dims> product_dims(const InferenceContext& context, size_t a, size_t b) {
  if (!context.ranked(a) || !context.ranked(b)) return std::nullopt;
  return matmul_dims(context.dims(a), context.dims(b));
}

void infer_matmul_integer(InferenceContext& context) {
  require_byte(context, 0);
  require_byte(context, 1);
  require_same_dtype(context, 0, 2);
  require_same_dtype(context, 1, 3);
  context.set_output(0, DType::kInt32, product_dims(context, 0, 1));
}

/// Inputs: a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point.
void infer_qlinear_matmul(InferenceContext& context) {
  for (const size_t i : {0, 3, 7}) require_byte(context, i);
  for (const size_t i : {1, 4, 6}) require_floating(context, i);
  require_same_dtype(context, 0, 2);
  require_same_dtype(context, 3, 5);
  require_single(context, 6);
  require_single(context, 7);
  context.set_output(0, context.dtype(7), product_dims(context, 0, 3));
}

OperatorDef entry(std::string name, int since, int min_inputs, int max_inputs,
                  std::vector<AttributeDef> attributes, void (*infer)(InferenceContext&),
                  Product product = Product::kNone) {
  return {.name = std::move(name),
          .since_version = since,
          .min_inputs = min_inputs,
          .max_inputs = max_inputs,
          .attributes = std::move(attributes),
          .infer = infer,
          .traits = {.product = product, .sums_products = product != Product::kNone, .quantization = true}};
}

}  // namespace

void add_quantization_operators(std::vector<OperatorDef>& table) {
  // `saturate` only affects 8-bit floats, which no tensor here can have.
  table.push_back(entry("QuantizeLinear", 21, 2, 3,
                        {int_attribute("axis", 1), int_attribute("block_size", 0),
                         int_attribute("output_dtype", 0), int_attribute("saturate", 1)},
                        infer_quantize));
  table.push_back(entry("DequantizeLinear", 21, 2, 3,
                        {int_attribute("axis", 1), int_attribute("block_size", 0)}, infer_dequantize));
  table.push_back(entry("DynamicQuantizeLinear", 11, 1, 1, {}, infer_dynamic_quantize));
  table.back().min_outputs = 3;
  table.back().max_outputs = 3;
  table.push_back(
      entry("ConvInteger", 10, 2, 4, convolution_attributes(), infer_conv_integer, Product::kConvolution));
  table.back().flops = [](const Graph& graph, const Node& node) {
    return convolution_flops(graph, node, 1, kNoBias);
  };
  table.push_back(
      entry("QLinearConv", 10, 8, 9, convolution_attributes(), infer_qlinear_conv, Product::kConvolution));
  table.back().flops = [](const Graph& graph, const Node& node) {
    return convolution_flops(graph, node, 3, 8);
  };
  table.push_back(entry("MatMulInteger", 10, 2, 4, {}, infer_matmul_integer, Product::kMatrices));
  table.back().flops = matmul_flops;
  table.push_back(entry("QLinearMatMul", 21, 8, 8, {}, infer_qlinear_matmul, Product::kMatrices));
  table.back().flops = matmul_flops;
}

}  // namespace hone::graph
