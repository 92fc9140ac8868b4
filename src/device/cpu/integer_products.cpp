// Convolutions and matrix products of 8-bit integers through oneDNN: with sums of 32 bits, and requantized to
// 8 bits.
#include <algorithm>

#include "device/cpu/onednn.hpp"
#include "device/cpu/tactics.hpp"
#include "engine/requirements.hpp"
#include "graph/convolution_geometry.hpp"
#include "graph/matmul_geometry.hpp"

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

/// Where an operator has its inputs; kNone for one that it has not.
struct Positions {
  static constexpr size_t kNone = SIZE_MAX;
  size_t a, b, a_zero, b_zero;
  size_t a_scale = kNone, b_scale = kNone, y_scale = kNone, y_zero = kNone, bias = kNone;
};

constexpr Positions kSums = {0, 1, 2, 3};
constexpr Positions kQuantized = {0, 3, 2, 5, 1, 4, 6, 7, 8};

/// Gives oneDNN the zero point of the first operand, which the graph has in 8 bits, as it wants it.
class ZeroPointKernel final : public engine::Kernel {
 public:
  ZeroPointKernel(std::shared_ptr<const engine::Kernel> product, size_t position, DType dtype)
      : product_(std::move(product)), position_(position), dtype_(dtype) {}

  void run(const engine::Run& run) const override {
    const void* from = run.inputs[position_];
    const int32_t zero_point = dtype_ == DType::kUInt8 ? int32_t{*static_cast<const uint8_t*>(from)}
                                                       : int32_t{*static_cast<const int8_t*>(from)};
    std::vector<const void*> inputs(run.inputs.begin(), run.inputs.end());
    inputs.push_back(&zero_point);
    engine::Run part = run;
    part.inputs = inputs;
    product_->run(part);
  }

  std::unique_ptr<engine::KernelState> make_state() const override { return product_->make_state(); }

 private:
  std::shared_ptr<const engine::Kernel> product_;
  size_t position_;
  DType dtype_;
};

#if DNNL_VERSION_MAJOR < 3

DType dtype_of(const StepRequest& request, size_t input) {
  return request.graph.value(request.node.inputs[input]).type.dtype;
}

const Tensor* constant(const StepRequest& request, size_t input) {
  if (input == Positions::kNone || !request.node.has_input(input)) return nullptr;
  return request.graph.constant(request.node.inputs[input]);
}

/// What scales and zero points allow; the attributes of the primitive are filled in.
Refusal read_attributes(const StepRequest& request, const Positions& at, int channel_mask,
                        dnnl::primitive_attr& attributes) {
  const auto given = [&](size_t input) { return input != Positions::kNone && request.node.has_input(input); };
  // uint8 weights are stored less 128.
  const double expected = dtype_of(request, at.b) == DType::kUInt8 ? 128 : 0;
  if (given(at.b_zero)) {
    const Tensor* zeros = constant(request, at.b_zero);
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
  const Tensor* a_scale = constant(request, at.a_scale);
  const Tensor* b_scale = constant(request, at.b_scale);
  const Tensor* y_scale = constant(request, at.y_scale);
  const Tensor* y_zero = constant(request, at.y_zero);
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

Offer make_convolution(const StepRequest& request, const Positions& at, engine::WeightStore& weights) {
  const Shape& shape = request.inputs[at.a].shape;
  const graph::Convolution geometry =
      graph::read_convolution(request.node.attributes, shape, request.inputs[at.b].shape);
  dnnl::primitive_attr attributes;
  if (Refusal reason = read_attributes(request, at, 1 << 1, attributes))
    return Offer::refuse(std::move(reason));
  const TensorDesc source{dtype_of(request, at.a), shape, Layout::kChannelsLast};
  const TensorDesc result{request.outputs[0].dtype, request.outputs[0].shape, Layout::kChannelsLast};
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
  finish_offer(request, at, pd, std::move(kernel), offer);
  return offer;
}

Offer offer_convolution(const StepRequest& request, engine::WeightStore& weights) {
  const Positions& at = request.node.op == "ConvInteger" ? kSums : kQuantized;
  if (request.graph.value(request.node.inputs[at.b]).constant == std::nullopt)
    return Offer::refuse("the weights are computed");
  const size_t rank = request.inputs[at.a].shape.size();
  if (rank != 4 && rank != 5) return Offer::refuse("rank 4 and 5 only");
  return guard_onednn([&] { return make_convolution(request, at, weights); });
}

/// The shape with ones in front of it.
memory::dims dims_of(const Shape& shape, size_t rank) {
  memory::dims dims(rank - shape.size(), 1);
  dims.insert(dims.end(), shape.begin(), shape.end());
  return dims;
}

memory::dims row_major(const memory::dims& dims) {
  const auto strides = tensor::row_major_strides(Shape(dims.begin(), dims.end()));
  return {strides.begin(), strides.end()};
}

Offer make_product(const StepRequest& request, const Positions& at, engine::WeightStore& weights) {
  const size_t rank = request.outputs[0].shape.size();
  dnnl::primitive_attr attributes;
  if (Refusal reason = read_attributes(request, at, 1 << (rank - 1), attributes))
    return Offer::refuse(std::move(reason));
  const TensorDesc a{dtype_of(request, at.a), request.inputs[at.a].shape, Layout::kPlain};
  const TensorDesc b{dtype_of(request, at.b), request.inputs[at.b].shape, Layout::kPlain};
  const TensorDesc y{request.outputs[0].dtype, request.outputs[0].shape, Layout::kPlain};
  const bool packs = request.graph.value(request.node.inputs[at.b]).constant != std::nullopt;
  if (!packs && b.dtype != DType::kInt8) return Offer::refuse("a second operand of uint8 that is computed");
  const memory::dims a_dims = dims_of(a.shape, rank);
  const memory::dims b_dims = dims_of(b.shape, rank);
  const memory::desc source(a_dims, onednn_type(a.dtype), row_major(a_dims));
  const memory::desc matrix = packs ? memory::desc(b_dims, memory::data_type::s8, memory::format_tag::any)
                                    : memory::desc(b_dims, memory::data_type::s8, row_major(b_dims));
  const dnnl::matmul::primitive_desc pd({source, matrix, onednn_desc(y)}, attributes, onednn_engine());
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
  finish_offer(request, at, pd, std::move(kernel), offer);
  return offer;
}

Offer offer_product(const StepRequest& request, engine::WeightStore& weights) {
  const Positions& at = request.node.op == "MatMulInteger" ? kSums : kQuantized;
  if (request.inputs[at.a].shape.size() < 2 || request.inputs[at.b].shape.size() < 2)
    return Offer::refuse("a vector");
  for (const size_t input : {at.a, at.b}) {
    if (tensor::element_count(request.inputs[input].shape) == 0) return Offer::refuse("an operand is empty");
  }
  return guard_onednn([&] { return make_product(request, at, weights); });
}

#else

// oneDNN 3 has other attributes for scales and zero points.
Offer offer_convolution(const StepRequest&, engine::WeightStore&) {
  return Offer::refuse("only with oneDNN 2");
}
Offer offer_product(const StepRequest&, engine::WeightStore&) { return Offer::refuse("only with oneDNN 2"); }

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
}

}  // namespace hone::device::cpu
