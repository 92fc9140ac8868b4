// Softmax and normalizations by kernels of ours.
#include "device/cuda/plugin/kernels/layers/normalization.hpp"

#include "device/cuda/plugin/tactics/region_parts.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"
#include "engine/requirements.hpp"
#include "graph/activated_normalization.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;

int64_t product(const Shape& shape, size_t begin, size_t end) {
  int64_t result = 1;
  for (size_t i = begin; i < end; ++i) result *= shape[i];
  return result;
}

size_t axis_of(const StepRequest& request) {
  const int64_t axis = request.node.attributes.get_int("axis");
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(request.inputs[0].shape.size()) : axis);
}

/// Whether a scale or bias has one value for each element of a row: the data's dimensions from the axis on,
/// with no others than of size 1 in front.
bool covers(const Shape& scale, const Shape& data, size_t axis) {
  const size_t inner = data.size() - axis;
  if (scale.size() < inner) return false;
  const auto from = scale.end() - static_cast<std::ptrdiff_t>(inner);
  return std::equal(from, scale.end(), data.begin() + static_cast<std::ptrdiff_t>(axis)) &&
         std::all_of(scale.begin(), from, [](int64_t size) { return size == 1; });
}

Offer offer_softmax(const StepRequest& request, engine::WeightStore&) {
  const Shape& shape = request.inputs[0].shape;
  if (shape.empty()) return Offer::refuse("a scalar");
  const size_t axis = axis_of(request);
  const int64_t outer = product(shape, 0, axis);
  const int64_t length = shape[axis];
  const int64_t inner = product(shape, axis + 1, shape.size());
  const TensorDesc desc{request.storage(), shape, Layout::kPlain};
  const FloatType type = float_type(desc.dtype);
  const bool logarithm = request.node.op == "LogSoftmax";
  Offer offer;
  offer.inputs = {desc};
  offer.outputs = {desc};
  offer.kernel = std::make_shared<LaunchKernel>(
      "a softmax", [=](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        return softmax(inputs[0], type, outputs[0], type, logarithm, outer, length, inner, options);
      });
  return offer;
}

Offer offer_layer_normalization(const StepRequest& request, engine::WeightStore&) {
  if (request.node.has_output(1) || request.node.has_output(2))
    return Offer::refuse("the statistics are wanted");
  const Shape& shape = request.inputs[0].shape;
  const size_t axis = axis_of(request);
  const int64_t rows = product(shape, 0, axis);
  const int64_t columns = product(shape, axis, shape.size());
  const TensorDesc desc{request.storage(), shape, Layout::kPlain};
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  offer.inputs[0] = desc;
  for (size_t i = 1; i < request.inputs.size(); ++i) {
    if (!request.node.has_input(i)) continue;
    if (!covers(request.inputs[i].shape, shape, axis)) return Offer::refuse("scale or bias is broadcast");
    offer.inputs[i] = {DType::kFloat32, request.inputs[i].shape, Layout::kPlain};
  }
  offer.outputs = {desc};
  offer.outputs.resize(request.outputs.size());
  const FloatType type = float_type(desc.dtype);
  const float epsilon = request.node.attributes.get_float("epsilon");
  const bool has_bias = request.node.has_input(2);
  const auto is_constant = [&](size_t input) {
    return !request.node.has_input(input) || request.graph.value(request.node.inputs[input]).constant;
  };
  const bool constants = is_constant(1) && is_constant(2);
  offer.kernel = std::make_shared<LaunchKernel>(
      "a layer normalization",
      [=](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        return layer_normalization(inputs[0], outputs[0], type, static_cast<const float*>(inputs[1]),
                                   has_bias ? static_cast<const float*>(inputs[2]) : nullptr, constants,
                                   epsilon, rows, columns, options);
      },
      rows * columns != 0);
  return offer;
}

constexpr std::string_view kRmsNormalization =
    "square=Mul mean=ReduceMean(0:square) sum=Add(0:mean) root=Sqrt(0:sum) factor=Reciprocal(0:root) "
    "normalized=Mul(1:factor) scaled=Mul(0:normalized) -> scaled";

/// The one number of a constant of float32; nullopt for anything else.
std::optional<float> constant_number(const StepRequest& request, int input) {
  if (input < 0) return std::nullopt;
  const tensor::Tensor* constant = request.graph.constant(request.node.inputs[static_cast<size_t>(input)]);
  if (constant == nullptr || constant->dtype() != DType::kFloat32 || constant->size() != 1)
    return std::nullopt;
  return constant->values<float>()[0];
}

/// Whether the mean is over the last axis alone and keeps it.
bool is_over_rows(const RegionPart& mean, const StepRequest& request, size_t rank) {
  const int axes = mean.operands.position(1);
  if (axes < 0 || mean.node.attributes.get_int("keepdims") == 0) return false;
  const tensor::Tensor* constant = request.graph.constant(request.node.inputs[static_cast<size_t>(axes)]);
  if (constant == nullptr || constant->dtype() != DType::kInt64 || constant->size() != 1) return false;
  const int64_t axis = constant->values<int64_t>()[0];
  return axis == -1 || axis + 1 == static_cast<int64_t>(rank);
}

Offer offer_rms_normalization(const StepRequest& request, engine::WeightStore&) {
  const RegionParts parts(request);
  if (parts.form() != kRmsNormalization) return Offer::refuse("its body is no RMS normalization");
  const PartOperands& squared = parts.part("square").operands;
  const int x = squared.position(0);
  const int scale = parts.part("scaled").operands.position(1);
  if (x < 0 || scale < 0 || squared.position(1) != x || parts.part("normalized").operands.position(0) != x)
    return Offer::refuse("its body normalizes by something else");
  const Shape& shape = request.inputs[static_cast<size_t>(x)].shape;
  const auto epsilon = constant_number(request, parts.part("sum").operands.position(1));
  if (shape.empty() || !epsilon || !is_over_rows(parts.part("mean"), request, shape.size()))
    return Offer::refuse("it is not over rows, or its epsilon is not constant");
  const size_t axis = shape.size() - 1;
  if (scale == x || !covers(request.inputs[static_cast<size_t>(scale)].shape, shape, axis) ||
      request.outputs[0].shape != shape)
    return Offer::refuse("the scale is broadcast");
  const int64_t rows = product(shape, 0, axis);
  const int64_t columns = shape[axis];
  const TensorDesc desc{request.storage(), shape, Layout::kPlain};
  Offer offer;
  // The axes and epsilon stay as they are: an engine that is loaded again reads them here.
  offer.inputs = request.inputs;
  offer.inputs[static_cast<size_t>(x)] = desc;
  offer.inputs[static_cast<size_t>(scale)] = {
      DType::kFloat32, request.inputs[static_cast<size_t>(scale)].shape, Layout::kPlain};
  offer.outputs = {desc};
  const FloatType type = float_type(desc.dtype);
  const bool constants = parts.part("scaled").is_constant(1);
  offer.kernel = std::make_shared<LaunchKernel>(
      "an RMS normalization",
      [=](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        return rms_normalization(inputs[static_cast<size_t>(x)], outputs[0], type,
                                 static_cast<const float*>(inputs[static_cast<size_t>(scale)]), constants,
                                 *epsilon, rows, columns, options);
      },
      rows * columns != 0);
  return offer;
}

/// As images lie where the channels that share statistics fill what a lane reads at once. Of half of what
/// memory hands over the cache keeps the other half for the next group, which costs less than two reorders.
Layout layout_of(const StepRequest& request, int64_t members) {
  constexpr int64_t kRunBytes = 16;
  const auto bytes = static_cast<int64_t>(tensor::dtype_size(request.storage()));
  return members * bytes < kRunBytes ? Layout::kPlain
                                     : engine::layout_for_shape(request.layout, request.inputs[0].shape);
}

/// Empty when the activations are filled in.
Refusal read_activations(const graph::ActivatedNormalization& norm, Epilogue& activations) {
  if (norm.activations.size() > Epilogue::kLimit) return "too many activations";
  for (const graph::Activation& activation : norm.activations) {
    PostOpLink& link = activations.links[activations.count++];
    link.op = activation.op;
    link.alpha = activation.alpha;
    link.beta = activation.beta;
  }
  return {};
}

/// Groups of channels, and single channels.
Offer offer_group_normalization(const StepRequest& request, engine::WeightStore&) {
  const auto step = graph::read_activated_normalization(request.node);
  if (!step) return Offer::refuse("its body is no normalization with activations");
  const auto [x, scale, bias] = step->inputs;
  const Shape& shape = request.inputs[x].shape;
  if (shape.size() < 2) return Offer::refuse("it has no channels");
  const int64_t channels = shape[1];
  const int64_t groups = step->groups(channels);
  if (groups < 1 || channels % groups != 0) return Offer::refuse("the channels do not divide into groups");
  const TensorDesc desc{request.storage(), shape, layout_of(request, channels / groups)};
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  offer.inputs[x] = desc;
  for (const size_t i : {scale, bias}) {
    if (i == x || tensor::element_count(request.inputs[i].shape) != channels)
      return Offer::refuse("scale or bias is not one value per channel");
    offer.inputs[i] = {DType::kFloat32, request.inputs[i].shape, Layout::kPlain};
  }
  offer.outputs = {desc};
  GroupNormalization norm{float_type(desc.dtype),
                          image_order(desc.layout),
                          step->norm.attributes.get_float("epsilon"),
                          shape[0],
                          channels,
                          groups,
                          product(shape, 2, shape.size()),
                          {}};
  if (Refusal reason = read_activations(*step, norm.activations)) return Offer::refuse(std::move(reason));
  offer.scratch_bytes = group_normalization_bytes(norm);
  offer.kernel = std::make_shared<LaunchKernel>(
      "a group normalization",
      [=, inputs_of = step->inputs](auto inputs, auto outputs, void* scratch, const LaunchOptions& options) {
        return group_normalization(norm, inputs[inputs_of[0]], outputs[0],
                                   static_cast<const float*>(inputs[inputs_of[1]]),
                                   static_cast<const float*>(inputs[inputs_of[2]]), scratch, options);
      },
      tensor::element_count(shape) != 0);
  return offer;
}

Offer offer_lrn(const StepRequest& request, engine::WeightStore&) {
  const Shape& shape = request.inputs[0].shape;
  if (shape.size() < 3) return Offer::refuse("only images");
  const TensorDesc desc{request.storage(), shape, engine::layout_for_shape(request.layout, shape)};
  Offer offer;
  offer.inputs = {desc};
  offer.outputs = {desc};
  const FloatType type = float_type(desc.dtype);
  const ImageOrder order = image_order(desc.layout);
  const graph::Attributes& attributes = request.node.attributes;
  const int64_t size = attributes.get_int("size");
  const float alpha = attributes.get_float("alpha");
  const float beta = attributes.get_float("beta");
  const float bias = attributes.get_float("bias");
  const int64_t pixels = product(shape, 2, shape.size());
  const int64_t batch = shape[0];
  const int64_t channels = shape[1];
  offer.kernel = std::make_shared<LaunchKernel>(
      "a local response normalization", [=](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        return local_response_normalization(inputs[0], outputs[0], type, order, size, alpha, beta, bias,
                                            batch, channels, pixels, options);
      });
  return offer;
}

}  // namespace

void add_normalization_tactics(TacticList& list) {
  list.push_back({.name = "softmax",
                  .operators = {"Softmax", "LogSoftmax"},
                  .requirements = {engine::only_float32},
                  .make = offer_softmax});
  list.push_back({.name = "layer_normalization",
                  .operators = {"LayerNormalization"},
                  .requirements = {engine::only_float32},
                  .make = offer_layer_normalization});
  list.push_back({.name = "rms_normalization",
                  .operators = {"Region:rms_normalization"},
                  .requirements = {engine::only_float32},
                  .make = offer_rms_normalization});
  list.push_back({.name = "group_normalization",
                  .operators = {"GroupNormalization", "InstanceNormalization",
                                "Region:" + std::string(graph::kActivatedNormalization)},
                  .requirements = {engine::only_float32},
                  .make = offer_group_normalization});
  list.push_back(
      {.name = "lrn", .operators = {"LRN"}, .requirements = {engine::only_float32}, .make = offer_lrn});
}

}  // namespace hone::device::cuda
