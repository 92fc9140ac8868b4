// Runs softmax and normalizations with hone's own kernels.
#include "device/cuda/plugin/kernels/layers/normalization.hpp"

#include "device/cuda/plugin/tactics/row_normalization.hpp"
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

/// Offers layer normalization, and normalization by the root of the mean of squares.
Offer offer_row_normalization(const StepRequest& request, engine::WeightStore&) {
  RowNormalization norm;
  if (Refusal reason = read_row_normalization(request, norm)) return Offer::refuse(std::move(reason));
  const auto x = static_cast<size_t>(norm.x);
  const TensorDesc desc{request.storage(), request.inputs[x].shape, Layout::kPlain};
  Offer offer;
  // Other operands of a region keep their arrangement, because a loaded engine reads them again in this form.
  if (graph::is_region(request.node)) offer.inputs = request.inputs;
  offer.inputs.resize(request.inputs.size());
  offer.inputs[x] = desc;
  arrange_parameters(request, norm, offer.inputs);
  offer.outputs = {desc};
  offer.outputs.resize(request.outputs.size());
  const FloatType type = float_type(desc.dtype);
  offer.kernel = std::make_shared<LaunchKernel>(
      norm.centers ? "a layer normalization" : "an RMS normalization",
      [=](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        const float* const scale = floats_of(inputs, norm.scale);
        if (!norm.centers)
          return rms_normalization(inputs[x], outputs[0], type, scale, norm.constants, norm.epsilon,
                                   norm.rows, norm.columns, options);
        return layer_normalization(inputs[x], outputs[0], type, scale, floats_of(inputs, norm.shift),
                                   norm.constants, norm.epsilon, norm.rows, norm.columns, options);
      },
      norm.rows * norm.columns != 0);
  return offer;
}

/// Channels-last if the channels that share statistics fill one load of a lane. If only half of a memory
/// access is used, the cache keeps the other half for the next group, which costs less than two reorders.
Layout layout_of(const StepRequest& request, int64_t members) {
  constexpr int64_t kRunBytes = 16;
  const auto bytes = static_cast<int64_t>(tensor::dtype_size(request.storage()));
  return members * bytes < kRunBytes ? Layout::kPlain
                                     : engine::layout_for_shape(request.layout, request.inputs[0].shape);
}

/// Returns an empty refusal if the activations are filled in.
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

/// Offers normalization over groups of channels and over single channels.
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
                  .starts_early = true,
                  .make = offer_row_normalization});
  list.push_back({.name = "rms_normalization",
                  .operators = {"Region:rms_normalization"},
                  .requirements = {engine::only_float32},
                  .starts_early = true,
                  .make = offer_row_normalization});
  list.push_back({.name = "group_normalization",
                  .operators = {"GroupNormalization", "InstanceNormalization",
                                "Region:" + std::string(graph::kActivatedNormalization)},
                  .requirements = {engine::only_float32},
                  .starts_early = true,
                  .make = offer_group_normalization});
  list.push_back(
      {.name = "lrn", .operators = {"LRN"}, .requirements = {engine::only_float32}, .make = offer_lrn});
}

}  // namespace hone::device::cuda
