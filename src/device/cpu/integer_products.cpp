// Convolutions and matrix products of 8-bit integers through oneDNN: with sums of 32 bits, made floats of,
// and requantized to 8 bits.
#include <algorithm>

#include "device/cpu/eltwise.hpp"
#include "device/cpu/onednn.hpp"
#include "device/cpu/quantized/operands.hpp"
#include "device/cpu/tactics.hpp"
#include "engine/requirements.hpp"
#include "graph/convolution_geometry.hpp"
#include "graph/matmul_geometry.hpp"
#include "graph/post_op.hpp"
#include "graph/quantized_chain.hpp"
#include "graph/region.hpp"

namespace hone::device::cpu {
namespace {

using dnnl::memory;
using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;
using tensor::Tensor;
using Positions = BytePositions;

/// Gives oneDNN the zero point of the first operand, which the graph has in 8 bits, as it wants it.
class ZeroPointKernel final : public engine::Kernel {
 public:
  ZeroPointKernel(std::shared_ptr<const engine::Kernel> product, size_t position, DType dtype)
      : product_(std::move(product)), position_(position), dtype_(dtype) {}

  void run(const engine::Run& run) const override {
    const void* from = run.inputs[position_];
    const int32_t zero_point = dtype_ == DType::kUInt8 ? int32_t{*static_cast<const uint8_t*>(from)}
                                                       : int32_t{*static_cast<const int8_t*>(from)};
    const std::unique_ptr<engine::KernelState> own = run.state == nullptr ? make_state() : nullptr;
    auto& state = static_cast<State&>(own == nullptr ? *run.state : *own);
    state.inputs.assign(run.inputs.begin(), run.inputs.end());
    state.inputs.push_back(&zero_point);
    engine::Run part = run;
    part.inputs = state.inputs;
    part.state = state.product.get();
    product_->run(part);
  }

  std::unique_ptr<engine::KernelState> make_state() const override {
    auto state = std::make_unique<State>();
    state->product = product_->make_state();
    return state;
  }

 private:
  struct State final : engine::KernelState {
    std::unique_ptr<engine::KernelState> product;
    /// The inputs of the step and the zero point.
    std::vector<const void*> inputs;
  };

  std::shared_ptr<const engine::Kernel> product_;
  size_t position_;
  DType dtype_;
};

#if DNNL_VERSION_MAJOR < 3

DType dtype_of(const StepRequest& request, size_t input) {
  return request.graph.value(request.node.inputs[input]).type.dtype;
}

/// Checks scales and zero points, and fills in the attributes of the primitive.
Refusal read_attributes(const StepRequest& request, const Positions& at, int channel_mask,
                        dnnl::primitive_attr& attributes) {
  const auto given = [&](size_t input) { return input != Positions::kNone && request.node.has_input(input); };
  // uint8 weights are stored less 128.
  const double expected = dtype_of(request, at.b) == DType::kUInt8 ? 128 : 0;
  if (given(at.b_zero)) {
    const Tensor* zeros = constant_input(request, at.b_zero);
    if (zeros == nullptr) return "the second operand's zero point is computed";
    const auto values = zeros->to_double();
    if (!std::all_of(values.begin(), values.end(), [&](double value) { return value == expected; }))
      return "the second operand's zero point is not in the middle";
  } else if (expected != 0) {
    return "the second operand's zero point is not in the middle";
  }
  if (given(at.a_zero)) {
    if (tensor::element_count(request.inputs[at.a_zero].shape) != 1)
      return "several zero points of the first operand";
    attributes.set_zero_points(DNNL_ARG_SRC, 0, {DNNL_RUNTIME_S32_VAL});
  }
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (at.y_scale == Positions::kNone) return {};
  const Tensor* a_scale = constant_input(request, at.a_scale);
  const Tensor* b_scale = constant_input(request, at.b_scale);
  const Tensor* y_scale = constant_input(request, at.y_scale);
  const Tensor* y_zero = constant_input(request, at.y_zero);
  if (a_scale == nullptr || b_scale == nullptr || y_scale == nullptr || y_zero == nullptr)
    return "scales or the result's zero point are computed";
  if (a_scale->size() != 1 || y_scale->size() != 1 || y_zero->size() != 1 || b_scale->rank() > 1)
    return "scales of rows";
  std::vector<float> scales;
  for (const double scale : b_scale->to_double())
    scales.push_back(static_cast<float>(a_scale->to_double()[0] * scale / y_scale->to_double()[0]));
  attributes.set_output_scales(scales.size() == 1 ? 0 : channel_mask, scales);
  const auto zero_point = static_cast<int32_t>(y_zero->to_double()[0]);
  if (zero_point != 0) attributes.set_zero_points(DNNL_ARG_DST, 0, {zero_point});
  return {};
}

/// The steps after the sums, once they are floats.
struct Following {
  struct Operand {
    size_t input;
    int argument;
    memory::desc desc;
  };
  dnnl::post_ops ops;
  std::vector<Operand> operands;
};

/// An operand of one number, of one a channel, or, of rows, of one an element; nullopt for any other.
std::optional<memory::desc> operand_desc(const Shape& operand, const memory::dims& result, bool is_image) {
  const auto count = tensor::element_count(operand);
  memory::dims dims(result.size(), 1);
  if (count != 1) {
    const int64_t all = tensor::element_count(Shape(result.begin(), result.end()));
    // One a channel has that axis; oneDNN 2.6 reads whole images as if they lay row-major.
    if (count == result[1] && count != all) {
      dims[1] = count;
    } else if (!is_image && count == all) {
      dims = result;
    } else {
      return std::nullopt;
    }
  }
  return memory::desc(dims, memory::data_type::f32, row_major(dims));
}

/// The stages of a region for a result that the primitive sees as `dims`.
Refusal follow(const StepRequest& request, const graph::QuantizedChain& chain, const memory::dims& dims,
               Following& following) {
  const bool is_image = chain.core->op == "ConvInteger";
  std::vector<Eltwise> functions;
  for (const graph::QuantizedStage& stage : chain.stages) {
    if (stage.rounds() || stage.operand.is_quantized()) return "an operand or a result that is quantized";
    const auto op = graph::find_post_op(stage.op);
    if (!graph::is_binary(*op)) {
      if (!append_functions(eltwise_functions(stage.op, stage.alpha, stage.beta), functions, following.ops))
        return "a function that the primitive does not take";
      continue;
    }
    const size_t input = stage.operand.value;
    const auto desc = operand_desc(request.inputs[input].shape, dims, is_image);
    if (!desc) return "an operand that is repeated";
    const auto kind = *op == graph::PostOp::kAdd   ? dnnl::algorithm::binary_add
                      : *op == graph::PostOp::kMul ? dnnl::algorithm::binary_mul
                                                   : dnnl::algorithm::binary_sub;
    const int argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(following.ops.len()) | DNNL_ARG_SRC_1;
    following.ops.append_binary(kind, *desc);
    following.operands.push_back({input, argument, *desc});
  }
  return {};
}

void bind_operands(const StepRequest& request, const Following& following, OnednnKernel& kernel,
                   Offer& offer) {
  for (const Following::Operand& operand : following.operands) {
    kernel.bind_input(operand.input, operand.argument, operand.desc);
    offer.inputs[operand.input] = {DType::kFloat32, request.inputs[operand.input].shape, Layout::kPlain};
  }
}

/// The product that a step computes: a node of its own, or the sums of a region, with the places of their
/// operands.
struct Product {
  Positions at;
  const graph::Attributes& attributes;
  /// The chain of a region.
  const graph::QuantizedChain* chain = nullptr;
};

/// The offer but for the second operand.
Offer begin_offer(const StepRequest& request, const Positions& at, const TensorDesc& a, const TensorDesc& y) {
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  offer.inputs[at.a] = a;
  if (request.node.has_input(at.a_zero))
    offer.inputs[at.a_zero] = {dtype_of(request, at.a_zero), request.inputs[at.a_zero].shape, Layout::kPlain};
  offer.outputs = {y};
  return offer;
}

template <class PrimitiveDesc>
void finish_offer(const StepRequest& request, const Positions& at, const PrimitiveDesc& pd,
                  std::shared_ptr<OnednnKernel> kernel, Offer& offer) {
  kernel->bind_input(at.a, DNNL_ARG_SRC, pd.src_desc());
  kernel->bind_output(0, DNNL_ARG_DST, pd.dst_desc());
  kernel->bind_scratch(pd.scratchpad_desc());
  offer.scratch_bytes = static_cast<int64_t>(pd.scratchpad_desc().get_size());
  if (!request.node.has_input(at.a_zero)) {
    offer.kernel = std::move(kernel);
    return;
  }
  kernel->bind_input(request.inputs.size(), DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC,
                     {{1}, memory::data_type::s32, memory::format_tag::x});
  offer.kernel =
      std::make_shared<ZeroPointKernel>(std::move(kernel), at.a_zero, dtype_of(request, at.a_zero));
}

Offer make_convolution(const StepRequest& request, const Product& product, engine::WeightStore& weights) {
  const Positions& at = product.at;
  const Shape& shape = request.inputs[at.a].shape;
  const graph::Convolution geometry =
      graph::read_convolution(product.attributes, shape, request.inputs[at.b].shape);
  dnnl::primitive_attr attributes;
  if (Refusal reason = read_attributes(request, at, 1 << 1, attributes))
    return Offer::refuse(std::move(reason));
  const TensorDesc source{dtype_of(request, at.a), shape, Layout::kChannelsLast};
  const TensorDesc result{request.outputs[0].dtype, request.outputs[0].shape, Layout::kChannelsLast};
  Following following;
  const memory::dims seen(result.shape.begin(), result.shape.end());
  if (Refusal reason =
          product.chain == nullptr ? Refusal() : follow(request, *product.chain, seen, following))
    return Offer::refuse(std::move(reason));
  attributes.set_post_ops(following.ops);
  memory::dims dims = {geometry.out_channels, geometry.in_channels};
  if (geometry.group > 1) dims = {geometry.group, geometry.group_outputs(), geometry.group_inputs()};
  memory::dims strides, dilations, begin, end;
  for (const graph::WindowAxis& axis : geometry.axes) {
    dims.push_back(axis.kernel);
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation - 1);
    begin.push_back(axis.pad_begin);
    end.push_back(axis.pad_end);
  }
  const bool has_bias = at.bias != Positions::kNone && request.node.has_input(at.bias);
  const memory::desc filters(dims, memory::data_type::s8, memory::format_tag::any);
  const memory::desc bias =
      has_bias ? memory::desc({geometry.out_channels}, memory::data_type::s32, memory::format_tag::x)
               : memory::desc();
  const dnnl::convolution_forward::primitive_desc pd(
      {dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, onednn_desc(source), filters,
       bias, onednn_desc(result), strides, dilations, begin, end},
      attributes, onednn_engine());
  if (const Refusal reason = refuse_implementation(pd.impl_info_str())) return Offer::refuse(reason);
  auto kernel = std::make_shared<OnednnKernel>(dnnl::convolution_forward(pd));
  Offer offer = begin_offer(request, at, source, result);
  const auto row_major = tensor::row_major_strides(Shape(dims.begin(), dims.end()));
  const PackedConstant packed = pack_bytes(
      request, at.b, dims, memory::dims(row_major.begin(), row_major.end()), pd.weights_desc(), weights);
  kernel->bind_constant(DNNL_ARG_WEIGHTS, pd.weights_desc(), packed.data);
  offer.packed = {packed.key};
  if (has_bias) {
    kernel->bind_input(at.bias, DNNL_ARG_BIAS, pd.bias_desc());
    offer.inputs[at.bias] = {DType::kInt32, request.inputs[at.bias].shape, Layout::kPlain};
  }
  bind_operands(request, following, *kernel, offer);
  finish_offer(request, at, pd, std::move(kernel), offer);
  return offer;
}

/// Weights that an engine holds in packed form only were looked at when they were packed.
Refusal refuse_operands(const StepRequest& request, const Positions& at) {
  const Tensor* plain = constant_input(request, at.b);
  const bool packed = plain == nullptr && request.graph.value(request.node.inputs[at.b]).constant;
  return packed ? Refusal() : refuse_saturation(dtype_of(request, at.a), plain);
}

Offer offer_convolution_of(const StepRequest& request, const Product& product, engine::WeightStore& weights) {
  const Positions& at = product.at;
  if (request.graph.value(request.node.inputs[at.b]).constant == std::nullopt)
    return Offer::refuse("the weights are computed");
  const size_t rank = request.inputs[at.a].shape.size();
  if (rank != 4 && rank != 5) return Offer::refuse("rank 4 and 5 only");
  if (Refusal reason = refuse_operands(request, at)) return Offer::refuse(std::move(reason));
  return guard_onednn([&] { return make_convolution(request, product, weights); });
}

Offer offer_convolution(const StepRequest& request, engine::WeightStore& weights) {
  const Positions& at = request.node.op == "ConvInteger" ? kSumPositions : kQuantizedPositions;
  return offer_convolution_of(request, {at, request.node.attributes}, weights);
}

/// The shape with ones in front of it.
memory::dims dims_of(const Shape& shape, size_t rank) {
  memory::dims dims(rank - shape.size(), 1);
  dims.insert(dims.end(), shape.begin(), shape.end());
  return dims;
}

Offer make_product(const StepRequest& request, const Product& product, engine::WeightStore& weights) {
  const Positions& at = product.at;
  // The rows of a stack are those of one matrix where the second operand is the same for all.
  const Shape& shape = request.outputs[0].shape;
  const bool flat = request.inputs[at.b].shape.size() == 2;
  const size_t rank = flat ? 2 : shape.size();
  dnnl::primitive_attr attributes;
  if (Refusal reason = read_attributes(request, at, 1 << (rank - 1), attributes))
    return Offer::refuse(std::move(reason));
  const TensorDesc a{dtype_of(request, at.a), request.inputs[at.a].shape, Layout::kPlain};
  const TensorDesc b{dtype_of(request, at.b), request.inputs[at.b].shape, Layout::kPlain};
  const TensorDesc y{request.outputs[0].dtype, request.outputs[0].shape, Layout::kPlain};
  const bool packs = request.graph.value(request.node.inputs[at.b]).constant != std::nullopt;
  if (!packs && b.dtype != DType::kInt8) return Offer::refuse("a second operand of uint8 that is computed");
  const auto rows = [&](const Shape& matrix) {
    return flat ? memory::dims{tensor::element_count(matrix) / matrix.back(), matrix.back()}
                : dims_of(matrix, rank);
  };
  const memory::dims a_dims = rows(a.shape);
  const memory::dims y_dims = rows(y.shape);
  const memory::dims b_dims = dims_of(b.shape, rank);
  Following following;
  if (Refusal reason =
          product.chain == nullptr ? Refusal() : follow(request, *product.chain, y_dims, following))
    return Offer::refuse(std::move(reason));
  attributes.set_post_ops(following.ops);
  const memory::desc source(a_dims, onednn_type(a.dtype), row_major(a_dims));
  const memory::desc matrix = packs ? memory::desc(b_dims, memory::data_type::s8, memory::format_tag::any)
                                    : memory::desc(b_dims, memory::data_type::s8, row_major(b_dims));
  const memory::desc result(y_dims, onednn_type(y.dtype), row_major(y_dims));
  const dnnl::matmul::primitive_desc pd({source, matrix, result}, attributes, onednn_engine());
  if (const Refusal reason = refuse_implementation(pd.impl_info_str())) return Offer::refuse(reason);
  auto kernel = std::make_shared<OnednnKernel>(dnnl::matmul(pd));
  Offer offer = begin_offer(request, at, a, y);
  if (packs) {
    const PackedConstant packed =
        pack_bytes(request, at.b, b_dims, row_major(b_dims), pd.weights_desc(), weights);
    kernel->bind_constant(DNNL_ARG_WEIGHTS, pd.weights_desc(), packed.data);
    offer.packed = {packed.key};
  } else {
    kernel->bind_input(at.b, DNNL_ARG_WEIGHTS, pd.weights_desc());
    offer.inputs[at.b] = b;
  }
  bind_operands(request, following, *kernel, offer);
  finish_offer(request, at, pd, std::move(kernel), offer);
  return offer;
}

Offer offer_product_of(const StepRequest& request, const Product& product, engine::WeightStore& weights) {
  const Positions& at = product.at;
  if (request.inputs[at.a].shape.size() < 2 || request.inputs[at.b].shape.size() < 2)
    return Offer::refuse("a vector");
  for (const size_t input : {at.a, at.b}) {
    if (tensor::element_count(request.inputs[input].shape) == 0) return Offer::refuse("an operand is empty");
  }
  if (Refusal reason = refuse_operands(request, at)) return Offer::refuse(std::move(reason));
  return guard_onednn([&] { return make_product(request, product, weights); });
}

Offer offer_product(const StepRequest& request, engine::WeightStore& weights) {
  const Positions& at = request.node.op == "MatMulInteger" ? kSumPositions : kQuantizedPositions;
  return offer_product_of(request, {at, request.node.attributes}, weights);
}

Offer offer_floats(const StepRequest& request, engine::WeightStore& weights) {
  const auto chain = graph::read_quantized_chain(request.node);
  if (!chain || chain->core == nullptr || chain->x.is_quantized() || chain->w.is_quantized())
    return Offer::refuse("no sums of integers");
  const Positions at = {chain->x.value, chain->w.value, chain->x.zero_point, chain->w.zero_point};
  const Product product{at, chain->core->attributes, &*chain};
  if (chain->core->op == "ConvInteger") return offer_convolution_of(request, product, weights);
  return offer_product_of(request, product, weights);
}

#else

// oneDNN 3 has other attributes for scales and zero points.
Offer offer_convolution(const StepRequest&, engine::WeightStore&) {
  return Offer::refuse("only with oneDNN 2");
}
Offer offer_product(const StepRequest&, engine::WeightStore&) { return Offer::refuse("only with oneDNN 2"); }
Offer offer_floats(const StepRequest&, engine::WeightStore&) { return Offer::refuse("only with oneDNN 2"); }

#endif

}  // namespace

bool multiplies_bytes() { return DNNL_VERSION_MAJOR < 3; }

void add_integer_tactics(TacticList& list) {
  list.push_back({.name = "onednn_integer",
                  .operators = {"ConvInteger", "QLinearConv"},
                  .requirements = {engine::nonempty_output},
                  .make = offer_convolution});
  list.push_back({.name = "onednn_integer",
                  .operators = {"MatMulInteger", "QLinearMatMul"},
                  .requirements = {engine::nonempty_output},
                  .make = offer_product});
  list.push_back({.name = "onednn_integer",
                  .operators = {"Region:integer_product"},
                  .requirements = {engine::nonempty_output},
                  .make = offer_floats});
}

}  // namespace hone::device::cpu
