// Convolutions and matrix products of bytes through oneDNN: scales, bias, functions, a residual of another
// scale and roundings inside the primitive where it takes them, and as loops after it otherwise.
#include <algorithm>

#include "device/cpu/chain_math.hpp"
#include "device/cpu/onednn.hpp"
#include "device/cpu/quantized/epilogue.hpp"
#include "device/cpu/quantized/stages.hpp"
#include "device/cpu/quantized/tactics.hpp"
#include "engine/requirements.hpp"
#include "graph/convolution_geometry.hpp"

namespace hone::device::cpu {

#if DNNL_VERSION_MAJOR < 3

namespace {

using dnnl::memory;
using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using engine::TensorDesc;
using graph::QuantizedChain;
using tensor::DType;
using tensor::Tensor;

/// The numbers of a product, which stages turn into the result.
class StagesKernel final : public engine::Kernel {
 public:
  StagesKernel(std::shared_ptr<const engine::Kernel> product, StageProgram stages, int64_t count)
      : product_(std::move(product)), stages_(std::move(stages)), count_(count) {}

  static int64_t bytes(int64_t count) { return (count * static_cast<int64_t>(sizeof(float)) + 63) / 64 * 64; }

  void run(const engine::Run& run) const override {
    auto* const numbers = static_cast<float*>(run.scratch);
    void* output = numbers;
    engine::Run product = run;
    product.outputs = {&output, 1};
    product.scratch = static_cast<std::byte*>(run.scratch) + bytes(count_);
    product_->run(product);
    constexpr auto kPart = static_cast<int64_t>(kRun);
#pragma omp parallel for schedule(static) if (count_ > 16 * kPart)
    for (int64_t first = 0; first < count_; first += kPart) {
      stages_.run(numbers + first, first, static_cast<size_t>(std::min(kPart, count_ - first)), run.inputs,
                  run.outputs[0]);
    }
  }

  std::unique_ptr<engine::KernelState> make_state() const override { return product_->make_state(); }

 private:
  std::shared_ptr<const engine::Kernel> product_;
  StageProgram stages_;
  int64_t count_;
};

/// A product as oneDNN's primitives describe it.
struct Product {
  bool is_convolution = false;
  TensorDesc x;
  TensorDesc result;
  /// The axis of the result's channels.
  int64_t axis = 1;
  memory::dims x_dims;
  memory::dims result_dims;
  memory::dims weight_dims;
  memory::dims weight_strides;
  memory::dims strides, dilations, begin, end;
  bool has_window_of_padding = false;

  int64_t channels() const { return result.shape[static_cast<size_t>(axis)]; }
};

Product convolution_of(const StepRequest& request, const QuantizedChain& chain) {
  const Shape& shape = request.inputs[chain.x.value].shape;
  const graph::Convolution geometry =
      graph::read_convolution(chain.core->attributes, shape, request.inputs[chain.w.value].shape);
  Product p;
  p.is_convolution = true;
  p.x = {request.inputs[chain.x.value].dtype, shape, Layout::kChannelsLast};
  p.result = {request.outputs[0].dtype, request.outputs[0].shape, Layout::kChannelsLast};
  p.weight_dims = {geometry.out_channels, geometry.in_channels};
  if (geometry.group > 1) p.weight_dims = {geometry.group, geometry.group_outputs(), geometry.group_inputs()};
  for (const graph::WindowAxis& axis : geometry.axes) {
    p.weight_dims.push_back(axis.kernel);
    p.strides.push_back(axis.stride);
    p.dilations.push_back(axis.dilation - 1);
    p.begin.push_back(axis.pad_begin);
    p.end.push_back(axis.pad_end);
    for (int64_t o = 0; o < axis.output; ++o)
      p.has_window_of_padding = p.has_window_of_padding || graph::taps_inside(axis, o).size() == 0;
  }
  p.weight_strides = row_major(p.weight_dims);
  return p;
}

/// Leading dimensions of a stack are rows of one matrix.
Product matrix_of(const StepRequest& request, const QuantizedChain& chain) {
  const graph::Attributes& attributes = chain.core->attributes;
  const bool transposed = attributes.has("transB") && attributes.get_int("transB") != 0;
  Product p;
  p.x = {request.inputs[chain.x.value].dtype, request.inputs[chain.x.value].shape, Layout::kPlain};
  p.result = {request.outputs[0].dtype, request.outputs[0].shape, Layout::kPlain};
  p.axis = static_cast<int64_t>(p.result.shape.size()) - 1;
  const int64_t depth = p.x.shape.back();
  const int64_t columns = p.result.shape.back();
  const int64_t rows = tensor::element_count(p.x.shape) / depth;
  p.x_dims = {rows, depth};
  p.result_dims = {rows, columns};
  p.weight_dims = {depth, columns};
  p.weight_strides = transposed ? memory::dims{1, depth} : memory::dims{columns, 1};
  return p;
}

memory::desc x_desc(const Product& p) {
  return p.is_convolution ? onednn_desc(p.x)
                          : memory::desc(p.x_dims, onednn_type(p.x.dtype), row_major(p.x_dims));
}

memory::desc result_desc(const Product& p, DType dtype) {
  if (!p.is_convolution) return {p.result_dims, onednn_type(dtype), row_major(p.result_dims)};
  return onednn_desc({dtype, p.result.shape, p.result.layout});
}

dnnl::primitive_attr attributes_of(const ByteEpilogue& epilogue, const ByteScale& x) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_output_scales(epilogue.scales.size() == 1 ? 0 : 1 << 1, epilogue.scales);
  if (x.zero_point != 0) attributes.set_zero_points(DNNL_ARG_SRC, 0, {x.zero_point});
  if (epilogue.zero_point != 0) attributes.set_zero_points(DNNL_ARG_DST, 0, {epilogue.zero_point});
  attributes.set_post_ops(epilogue.ops);
  return attributes;
}

/// Fills the offer in with the primitive `pd`.
template <class Primitive, class PrimitiveDesc>
Refusal take_primitive(const StepRequest& request, const QuantizedChain& chain, const Product& p,
                       const ByteEpilogue& epilogue, const PrimitiveDesc& pd, engine::WeightStore& weights,
                       Offer& offer) {
  if (Refusal reason = refuse_implementation(pd.impl_info_str())) return reason;
  auto kernel = std::make_shared<OnednnKernel>(Primitive(pd));
  const PackedConstant packed =
      pack_bytes(request, chain.w.value, p.weight_dims, p.weight_strides, pd.weights_desc(), weights);
  kernel->bind_constant(DNNL_ARG_WEIGHTS, pd.weights_desc(), packed.data);
  offer.packed = {packed.key};
  kernel->bind_input(chain.x.value, DNNL_ARG_SRC, pd.src_desc());
  kernel->bind_output(0, DNNL_ARG_DST, pd.dst_desc());
  kernel->bind_scratch(pd.scratchpad_desc());
  offer.scratch_bytes = static_cast<int64_t>(pd.scratchpad_desc().get_size());
  if (!epilogue.bias.empty()) {
    const Tensor bias = Tensor::of<float>(epilogue.bias, {static_cast<int64_t>(epilogue.bias.size())});
    kernel->own(bias);
    kernel->bind_constant(DNNL_ARG_BIAS, pd.bias_desc(), bias.bytes());
  }
  for (const ByteEpilogue::Constant& constant : epilogue.constants) {
    kernel->own(constant.values);
    kernel->bind_constant(constant.argument, constant.desc, constant.values.bytes());
  }
  offer.accumulate(epilogue.accumulate_input);
  offer.kernel = std::move(kernel);
  return {};
}

Refusal multiply(const StepRequest& request, const QuantizedChain& chain, const Product& p, DType dtype,
                 const ByteScale& x, const ByteEpilogue& epilogue, engine::WeightStore& weights,
                 Offer& offer) {
  const memory::desc matrix(p.weight_dims, memory::data_type::s8, memory::format_tag::any);
  const dnnl::primitive_attr attributes = attributes_of(epilogue, x);
  const auto channels = static_cast<int64_t>(epilogue.bias.size());
  if (!p.is_convolution) {
    const memory::desc bias = epilogue.bias.empty() ? memory::desc()
                                                    : memory::desc({1, channels}, memory::data_type::f32,
                                                                   memory::dims{channels, 1});
    const dnnl::matmul::primitive_desc pd({x_desc(p), matrix, bias, result_desc(p, dtype)}, attributes,
                                          onednn_engine());
    return take_primitive<dnnl::matmul>(request, chain, p, epilogue, pd, weights, offer);
  }
  const memory::desc bias = epilogue.bias.empty()
                                ? memory::desc()
                                : memory::desc({channels}, memory::data_type::f32, memory::format_tag::x);
  const dnnl::convolution_forward::primitive_desc pd(
      {dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, x_desc(p), matrix, bias,
       result_desc(p, dtype), p.strides, p.dilations, p.begin, p.end},
      attributes, onednn_engine());
  return take_primitive<dnnl::convolution_forward>(request, chain, p, epilogue, pd, weights, offer);
}

Offer begin_offer(const StepRequest& request, const QuantizedChain& chain, const Product& p) {
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  keep_constants(request, chain, offer);
  offer.inputs[chain.x.value] = p.x;
  offer.outputs = {p.result};
  return offer;
}

/// All stages inside the primitive.
Offer make_whole(const StepRequest& request, const QuantizedChain& chain, const Product& p,
                 const ProductScales& scales, engine::WeightStore& weights) {
  Offer offer = begin_offer(request, chain, p);
  ByteEpilogue epilogue;
  if (Refusal reason = make_epilogue(request, chain, scales, p.result, p.axis, offer, epilogue))
    return Offer::refuse(std::move(reason));
  // oneDNN 2.6 ends the process there, in its code for AVX-512, when a function comes before the sum.
  if (epilogue.accumulate_input >= 0 && p.has_window_of_padding)
    return Offer::refuse("a sum where a window is padding alone");
  if (Refusal reason = multiply(request, chain, p, p.result.dtype, scales.x, epilogue, weights, offer))
    return Offer::refuse(std::move(reason));
  return offer;
}

/// The product's numbers in float32, and the stages after it.
Offer make_parts(const StepRequest& request, const QuantizedChain& chain, const Product& p,
                 const ProductScales& scales, engine::WeightStore& weights) {
  Offer offer = begin_offer(request, chain, p);
  StageProgram stages;
  if (Refusal reason = StageProgram::make(request, chain, p.result, offer, stages))
    return Offer::refuse(std::move(reason));
  ByteEpilogue epilogue;
  if (Refusal reason = make_plain_epilogue(request, chain, scales, p.channels(), epilogue))
    return Offer::refuse(std::move(reason));
  if (Refusal reason = multiply(request, chain, p, DType::kFloat32, scales.x, epilogue, weights, offer))
    return Offer::refuse(std::move(reason));
  const int64_t count = tensor::element_count(p.result.shape);
  offer.kernel = std::make_shared<StagesKernel>(std::move(offer.kernel), std::move(stages), count);
  offer.scratch_bytes += StagesKernel::bytes(count);
  return offer;
}

Offer offer_product(const StepRequest& request, engine::WeightStore& weights) {
  const auto chain = graph::read_quantized_chain(request.node);
  if (!chain || chain->core == nullptr || !chain->w.is_present())
    return Offer::refuse("no product of dequantized operands");
  const auto scales = product_scales(request, *chain);
  if (!scales) return Offer::refuse("scales are computed, or the first operand has several");
  if (!request.graph.value(request.node.inputs[chain->w.value]).constant)
    return Offer::refuse("the weights are computed");
  // Weights that an engine holds in packed form only were looked at when they were packed.
  const Tensor* plain = constant_input(request, chain->w.value);
  if (Refusal reason = plain == nullptr ? Refusal() : refuse_saturation(scales->x.dtype, plain))
    return Offer::refuse(std::move(reason));
  if (tensor::element_count(request.inputs[chain->x.value].shape) == 0)
    return Offer::refuse("an operand is empty");
  const bool convolution = chain->core->op == "Conv" || chain->core->op == "FusedConv";
  const Product p = convolution ? convolution_of(request, *chain) : matrix_of(request, *chain);
  if (scales->weights.size() != 1 && std::cmp_not_equal(scales->weights.size(), p.channels()))
    return Offer::refuse("as many scales as channels are needed");
  Offer whole = guard_onednn([&] { return make_whole(request, *chain, p, *scales, weights); });
  if (!whole.refusal) return whole;
  Offer parts = guard_onednn([&] { return make_parts(request, *chain, p, *scales, weights); });
  return parts.refusal ? whole : parts;
}

}  // namespace

void add_quantized_product_tactics(engine::TacticList& list) {
  list.push_back({.name = "onednn_bytes",
                  .operators = {"Region:quantized_product"},
                  .requirements = {engine::nonempty_output},
                  .make = offer_product});
}

#else

// oneDNN 3 has other attributes for scales and zero points.
void add_quantized_product_tactics(engine::TacticList&) {}

#endif

}  // namespace hone::device::cpu
