// Softmax and LRN through oneDNN.
#include "device/cpu/onednn.hpp"
#include "device/cpu/tactics.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;

/// A primitive from one operand to another of the same arrangement.
template <class PrimitiveDesc>
Offer one_input_offer(dnnl::primitive primitive, const PrimitiveDesc& pd, const TensorDesc& desc) {
  auto kernel = std::make_shared<OnednnKernel>(std::move(primitive));
  kernel->bind_input(0, DNNL_ARG_SRC, pd.src_desc());
  kernel->bind_output(0, DNNL_ARG_DST, pd.dst_desc());
  kernel->bind_scratch(pd.scratchpad_desc());
  Offer offer;
  offer.inputs = {desc};
  offer.outputs = {desc};
  offer.scratch_bytes = static_cast<int64_t>(pd.scratchpad_desc().get_size());
  offer.kernel = std::move(kernel);
  return offer;
}

Offer make_softmax(const StepRequest& request, int64_t rank) {
  const int axis = static_cast<int>(tensor::normalize_axis(request.node.attributes.get_int("axis"), rank));
  // In float32 whatever the precision: a softmax is small, and its result is often the model's.
  const TensorDesc desc{DType::kFloat32, request.outputs[0].shape, Layout::kPlain};
  const bool log = request.node.op == "LogSoftmax";
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  constexpr auto kKind = dnnl::prop_kind::forward_inference;
#if DNNL_VERSION_MAJOR >= 3
  const auto algorithm = log ? dnnl::algorithm::softmax_log : dnnl::algorithm::softmax_accurate;
  const dnnl::softmax_forward::primitive_desc pd(onednn_engine(), kKind, algorithm, onednn_desc(desc),
                                                 onednn_desc(desc), axis, attributes);
  auto primitive = dnnl::softmax_forward(pd);
#else
  const auto algorithm = log ? dnnl::algorithm::softmax_log : dnnl::algorithm::softmax_accurate;
  const dnnl::softmax_v2_forward::primitive_desc pd(
      {kKind, algorithm, onednn_desc(desc), onednn_desc(desc), axis}, attributes, onednn_engine());
  auto primitive = dnnl::softmax_v2_forward(pd);
#endif
  Offer offer = one_input_offer(std::move(primitive), pd, desc);
  offer.in_place_input = 0;
  return offer;
}

Offer offer_softmax(const StepRequest& request, engine::WeightStore&) {
  const auto rank = static_cast<int64_t>(request.outputs[0].shape.size());
  if (rank == 0 || rank > 5) return Offer::refuse("rank 1 to 5 only");
  return guard_onednn([&] { return make_softmax(request, rank); });
}

Offer make_lrn(const StepRequest& request) {
  const graph::Attributes& a = request.node.attributes;
  const TensorDesc desc{DType::kFloat32, request.outputs[0].shape,
                        engine::layout_for_shape(request.layout, request.outputs[0].shape)};
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  constexpr auto kKind = dnnl::prop_kind::forward_inference;
  constexpr auto kAcross = dnnl::algorithm::lrn_across_channels;
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::lrn_forward::primitive_desc pd(onednn_engine(), kKind, kAcross, onednn_desc(desc),
                                             onednn_desc(desc), a.get_int("size"), a.get_float("alpha"),
                                             a.get_float("beta"), a.get_float("bias"), attributes);
#else
  const dnnl::lrn_forward::primitive_desc pd({kKind, kAcross, onednn_desc(desc), a.get_int("size"),
                                              a.get_float("alpha"), a.get_float("beta"), a.get_float("bias")},
                                             attributes, onednn_engine());
#endif
  return one_input_offer(dnnl::lrn_forward(pd), pd, desc);
}

Offer offer_lrn(const StepRequest& request, engine::WeightStore&) {
  if (request.outputs[0].shape.size() != 4) return Offer::refuse("rank 4 only");
  if (request.node.attributes.get_int("size") % 2 == 0) return Offer::refuse("an even window");
  return guard_onednn([&] { return make_lrn(request); });
}

}  // namespace

void add_normalization_tactics(TacticList& list) {
  list.push_back({.name = "onednn_softmax",
                  .operators = {"Softmax", "LogSoftmax"},
                  .requirements = {engine::only_float32, engine::nonempty_output},
                  .make = offer_softmax});
  list.push_back({.name = "onednn_lrn",
                  .operators = {"LRN"},
                  .requirements = {engine::only_float32},
                  .make = offer_lrn});
}

}  // namespace hone::device::cpu
