// See attention_request.hpp.
#include "device/cuda/plugin/tactics/attention_request.hpp"

#include <algorithm>

#include "graph/attention.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::StepRequest;
using engine::TensorDesc;
using graph::Attention;
using graph::StridedView;
using tensor::DType;

/// The last two dimensions become the rows and columns of the view's matrices; the loops over the heads come
/// before them.
Refusal read_matrix(const StridedView& view, bool contiguous, AttentionMatrix& out) {
  const size_t leading = view.dimensions.size() - 2;
  const auto row = view.stride(leading);
  const auto column = view.stride(leading + 1);
  if (!row || !column) return "rows of an operand lie unevenly";
  if (contiguous && *column != 1 && !view.dimensions[leading + 1].empty())
    return "the columns of an operand lie apart";
  out.offset = view.offset;
  out.row = *row;
  out.column = *column;
  int loop = 0;
  for (size_t i = 0; i < leading; ++i) {
    for (const graph::StridedLoop& each : view.dimensions[i]) {
      if (loop == AttentionMatrix::kMostLoops) return "its heads lie in too many loops";
      out.loops[loop++] = each.stride;
    }
  }
  return {};
}

/// Returns an empty refusal if `size` is filled in.
Refusal read_size(Attention& a, AttentionSize& size) {
  if (a.masks.size() > AttentionSize::kMostMasks) return "it has too many masks";
  std::vector<StridedView*> views = {&a.q, &a.k, &a.v, &a.result};
  for (graph::AttentionMask& mask : a.masks) views.push_back(&mask.view);
  for (size_t i = 0; i < a.leading.size(); ++i) {
    if (a.leading[i] != 0 && !graph::align_loops(views, i)) return "its heads lie unevenly";
    for (const graph::StridedLoop& loop : a.q.dimensions[i]) {
      if (size.loops == AttentionMatrix::kMostLoops) return "its heads lie in too many loops";
      size.lengths[size.loops++] = loop.length;
    }
  }
  if (a.depth > AttentionSize::kMostDepth || a.width > AttentionSize::kMostDepth)
    return fmt::format("heads of {} and {} columns, {} at most", a.depth, a.width, AttentionSize::kMostDepth);
  size.rows = a.rows;
  size.keys = a.keys;
  size.depth = static_cast<int>(a.depth);
  size.width = static_cast<int>(a.width);
  size.scale = static_cast<float>(a.scale);
  size.guarded = a.guarded;
  std::swap(a.k.dimensions[a.leading.size()], a.k.dimensions[a.leading.size() + 1]);  // one row for each key
  for (const auto& [view, out] : {std::pair(&a.q, &size.q), std::pair(&a.k, &size.k),
                                  std::pair(&a.v, &size.v), std::pair(&a.result, &size.y)}) {
    if (Refusal reason = read_matrix(*view, true, *out)) return reason;
  }
  for (const graph::AttentionMask& mask : a.masks) {
    size.fill[size.masks] = {mask.fill.has_value(), mask.where, mask.fill.value_or(0)};
    if (Refusal reason = read_matrix(mask.view, false, size.mask[size.masks++])) return reason;
  }
  return {};
}

/// Sets the arrangement of the step's inputs.
Refusal arrange(const StepRequest& request, const graph::Graph& body, const std::vector<size_t>& positions,
                const Attention& a, AttentionRequest& out, std::vector<TensorDesc>& inputs) {
  const auto place = [&](const StridedView& view, DType dtype, size_t& position) -> Refusal {
    const auto input = std::find(body.inputs.begin(), body.inputs.end(), view.base) - body.inputs.begin();
    position = positions[static_cast<size_t>(input)];
    const TensorDesc desc{dtype, request.inputs[position].shape, Layout::kPlain};
    TensorDesc& wanted = inputs[position];
    if (wanted.dtype != DType::kUndefined && wanted != desc) return "a mask is an operand of a product too";
    wanted = desc;
    return {};
  };
  for (const auto& [view, position] :
       {std::pair(&a.q, &out.q), std::pair(&a.k, &out.k), std::pair(&a.v, &out.v)}) {
    if (Refusal reason = place(*view, request.storage(), *position)) return reason;
  }
  for (const graph::AttentionMask& mask : a.masks) {
    const DType dtype = mask.fill ? DType::kBool : DType::kFloat32;
    if (Refusal reason = place(mask.view, dtype, out.masks.emplace_back())) return reason;
  }
  return {};
}

}  // namespace

AttentionArgs AttentionRequest::args(std::span<const void* const> inputs, void* result) const {
  AttentionArgs args{inputs[q], inputs[k], inputs[v], {}, result};
  for (size_t i = 0; i < masks.size(); ++i) args.masks[i] = inputs[masks[i]];
  return args;
}

Refusal read_attention_request(const StepRequest& request, const graph::Graph& body,
                               const std::vector<size_t>& positions, AttentionRequest& out,
                               std::vector<TensorDesc>& inputs) {
  auto attention = graph::read_attention(body);
  if (!attention) return "its body is no attention of float32 with operands that lie evenly";
  if (Refusal reason = arrange(request, body, positions, *attention, out, inputs)) return reason;
  return read_size(*attention, out.size);
}

}  // namespace hone::device::cuda
