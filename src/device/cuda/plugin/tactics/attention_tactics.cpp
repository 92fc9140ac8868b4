// Regions of attention by kernels of ours, and of what stands before it.
#include <algorithm>

#include "device/cuda/plugin/kernels/layers/attention.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"
#include "device/cuda/regions/rotary/plugin/rotary_tactics.hpp"
#include "engine/requirements.hpp"
#include "graph/attention.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using engine::TensorDesc;
using graph::Attention;
using graph::StridedView;
using tensor::DType;

/// Positions of the operands among the step's inputs.
struct Positions {
  size_t q = 0;
  size_t k = 0;
  size_t v = 0;
  std::vector<size_t> masks;
};

/// Rows and columns of the view's matrices as its last two dimensions, the loops over the heads before them.
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

/// Empty when `size` is filled in.
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
  std::swap(a.k.dimensions[a.leading.size()], a.k.dimensions[a.leading.size() + 1]);  // a row for each key
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

/// Says how the step's inputs must lie.
Refusal arrange(const StepRequest& request, const graph::Graph& body, const Attention& a, Offer& offer,
                Positions& positions) {
  const auto place = [&](const StridedView& view, DType dtype, size_t& position) -> Refusal {
    position = static_cast<size_t>(std::find(body.inputs.begin(), body.inputs.end(), view.base) -
                                   body.inputs.begin());
    const TensorDesc desc{dtype, request.inputs[position].shape, Layout::kPlain};
    TensorDesc& wanted = offer.inputs[position];
    if (wanted.dtype != DType::kUndefined && wanted != desc) return "a mask is an operand of a product too";
    wanted = desc;
    return {};
  };
  for (const auto& [view, position] :
       {std::pair(&a.q, &positions.q), std::pair(&a.k, &positions.k), std::pair(&a.v, &positions.v)}) {
    if (Refusal reason = place(*view, request.storage(), *position)) return reason;
  }
  for (const graph::AttentionMask& mask : a.masks) {
    const DType dtype = mask.fill ? DType::kBool : DType::kFloat32;
    if (Refusal reason = place(mask.view, dtype, positions.masks.emplace_back())) return reason;
  }
  return {};
}

/// A kernel, and in how many ways it shares keys.
using Launch = cudaError_t (*)(const AttentionArgs&, FloatType, const AttentionSize&, int,
                               const LaunchOptions&);
using FindRefusal = Refusal (*)(const AttentionSize&, const DeviceProperties&);

struct Way {
  std::string_view name;
  int split;
  bool in_cluster = false;
};

struct AttentionKernel {
  Launch launch;
  FindRefusal refusal;
  std::vector<Way> ways;
};

Offer offer_attention(const Gpu& gpu, const StepRequest& request, const AttentionKernel& kernel, int split) {
  if (tensor::dtype_size(request.storage()) != 2) return Offer::refuse("only fp16 and bf16");
  const graph::Graph body = graph::typed_body(request.graph, request.node);
  auto attention = graph::read_attention(body);
  if (!attention) return Offer::refuse("its body is no attention of float32 with operands that lie evenly");
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  offer.outputs = {{request.storage(), request.outputs[0].shape, Layout::kPlain}};
  Positions positions;
  if (Refusal reason = arrange(request, body, *attention, offer, positions))
    return Offer::refuse(std::move(reason));
  AttentionSize size;
  if (Refusal reason = read_size(*attention, size)) return Offer::refuse(std::move(reason));
  if (Refusal reason = kernel.refusal(size, gpu.properties())) return Offer::refuse(std::move(reason));
  offer.kernel = std::make_shared<LaunchKernel>(
      "an attention",
      [=, launch = kernel.launch, type = float_type(request.storage())](auto inputs, auto outputs, void*,
                                                                        const LaunchOptions& options) {
        AttentionArgs args{inputs[positions.q], inputs[positions.k], inputs[positions.v], {}, outputs[0]};
        for (size_t i = 0; i < positions.masks.size(); ++i) args.masks[i] = inputs[positions.masks[i]];
        return launch(args, type, size, split, options);
      },
      true);
  return offer;
}

engine::Tactic attention_tactic(const Gpu& gpu, std::string name, const AttentionKernel& kernel) {
  engine::Tactic tactic{.name = std::move(name),
                        .operators = {"Region:" + std::string(graph::kAttention)},
                        .requirements = {engine::only_float32, engine::nonempty_output},
                        .starts_early = true};
  tactic.make = [&gpu, kernel](const StepRequest& request, engine::WeightStore&) {
    return offer_attention(gpu, request, kernel, kernel.ways[0].split);
  };
  tactic.list_variants = [&gpu, kernel](const StepRequest& request) {
    std::vector<std::string> names;
    if (offer_attention(gpu, request, kernel, kernel.ways[0].split).refusal) return names;
    for (const Way& way : kernel.ways) {
      if (!way.in_cluster || gpu.properties().clusters) names.emplace_back(way.name);
    }
    return names;
  };
  tactic.make_variant = [&gpu, kernel](const StepRequest& request, engine::WeightStore&,
                                       std::string_view variant) {
    const auto way = std::find_if(kernel.ways.begin(), kernel.ways.end(),
                                  [&](const Way& each) { return each.name == variant; });
    if (way == kernel.ways.end()) return Offer::refuse(fmt::format("'{}' is no way that it has", variant));
    if (way->in_cluster && !gpu.properties().clusters) return Offer::refuse("the device has no clusters");
    return offer_attention(gpu, request, kernel, way->split);
  };
  return tactic;
}

}  // namespace

void add_attention_tactics(TacticList& list, Gpu& gpu) {
  // By the blocks that share the keys of a row; the favourite of few rows, whatever there is time to try.
  list.push_back(attention_tactic(gpu, "row_attention",
                                  {row_attention,
                                   row_attention_refusal,
                                   {{"x8", 8, true}, {"x4", 4, true}, {"x2", 2, true}, {"x1", 1}}}));
  // By the rows of a block, and by the warpgroups that share its keys.
  const auto sharing = [](std::string_view name, WarpgroupShares shares) {
    return Way{name, static_cast<int>(shares)};
  };
  list.push_back(
      attention_tactic(gpu, "warpgroup_attention",
                       {warpgroup_attention,
                        warpgroup_attention_refusal,
                        {sharing("64", WarpgroupShares::kNothing), sharing("128", WarpgroupShares::kKeys),
                         sharing("64x2", WarpgroupShares::kRows)}}));
  list.push_back(attention_tactic(gpu, "hone_attention",
                                  {attention, attention_refusal, {{"64", 1}, {"32", 2}, {"16", 4}}}));
  list.push_back(rotary_tactic());
}

}  // namespace hone::device::cuda
