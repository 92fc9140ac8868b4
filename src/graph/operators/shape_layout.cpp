// Operator table entries that give the same elements another shape or order.
#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "graph/operators/batch_rules.hpp"
#include "graph/operators/rules.hpp"
#include "graph/operators/shape_parts.hpp"

namespace hone::graph {
namespace {

using Kind = AttributeKind;

/// The one dimension of `wanted` at `hole` that makes both products equal, with equal symbols cancelled.
Dim missing_dim(const InferenceContext& context, const Dims& from, const Dims& wanted, size_t hole) {
  Dims above = from;
  int64_t below = 1;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (i == hole) continue;
    if (wanted[i].known()) {
      below = base::checked_mul(below, wanted[i].value());
      continue;
    }
    const auto equal =
        std::find_if(above.begin(), above.end(), [&](const Dim& d) { return d.same_as(wanted[i]); });
    if (equal == above.end()) return {};
    above.erase(equal);
  }
  if (below == 0) return {};
  int64_t known = 1;
  Dim open = 1;
  for (const Dim& dim : above) {
    if (dim.known()) {
      known = base::checked_mul(known, dim.value());
    } else {
      open = open * dim;
    }
  }
  if (open.is(1)) {
    context.require(known % below == 0, "{} elements of shape {} do not fit shape {}", known, dims_text(from),
                    dims_text(wanted));
    return known / below;
  }
  return known == below ? open : Dim();
}

Dims reshape_dims(const InferenceContext& context, const Dims& data) {
  const bool allow_zero = context.attributes().get_int("allowzero") != 0;
  Dims result = data;
  std::optional<size_t> hole;
  std::optional<size_t> unknown;
  for (size_t i = 0; i < data.size(); ++i) {
    if (!data[i].known()) {
      if (data[i].symbol().empty()) unknown = i;
      continue;
    }
    const int64_t value = data[i].value();
    context.require(value >= -1, "the new shape has dimension {}", value);
    if (value == 0 && !allow_zero) {
      if (!context.ranked(0)) {
        result[i] = Dim();
        continue;
      }
      context.require(i < context.dims(0).size(), "dimension {} of the new shape is 0, the input has rank {}",
                      i, context.rank(0));
      result[i] = context.dims(0)[i];
    }
    if (value == -1) {
      context.require(!hole, "the new shape has two dimensions of -1");
      hole = i;
      result[i] = Dim();
    }
  }
  if (!context.ranked(0)) return result;
  if (!hole) hole = unknown;
  if (hole) {
    result[*hole] = missing_dim(context, context.dims(0), result, *hole);
    return result;
  }
  const Dim before = product(context.dims(0), 0, context.dims(0).size());
  const Dim after = product(result, 0, result.size());
  context.require(!before.known() || !after.known() || before.same_as(after),
                  "{} elements of shape {} do not fit shape {}", before.text(), dims_text(context.dims(0)),
                  dims_text(result));
  return result;
}

void infer_reshape(InferenceContext& context) {
  require_index_type(context, 1);
  context.set_output(0, context.dtype(0), std::nullopt);
  if (const auto rank = described_rank(context, 1)) {
    const auto data = context.data(1);
    context.set_output(0, context.dtype(0), data ? reshape_dims(context, *data) : unknown_dims(*rank));
  }
  if (auto data = context.data(0); data && described_rank(context, 1).value_or(2) <= 1) {
    context.set_output_data(0, std::move(*data));
  }
}

void infer_flatten(InferenceContext& context) {
  context.set_output(0, context.dtype(0), unknown_dims(2));
  if (!context.ranked(0)) return;
  const int64_t rank = context.rank(0);
  const int64_t axis = context.attributes().get_int("axis");
  context.require(axis >= -rank && axis <= rank, "attribute 'axis' is {}, outside rank {}", axis, rank);
  const auto split = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  const Dims& dims = context.dims(0);
  context.set_output(0, context.dtype(0), Dims{product(dims, 0, split), product(dims, split, dims.size())});
}

/// Follows shape data through an operator that changes only the rank.
void keep_data(InferenceContext& context) {
  const auto& dims = context.results()[0].type.dims;
  auto data = context.data(0);
  if (data && dims && dims->size() <= 1) context.set_output_data(0, std::move(*data));
}

void infer_squeeze(InferenceContext& context) {
  context.set_output(0, context.dtype(0), std::nullopt);
  if (!context.ranked(0)) return;
  const Dims& dims = context.dims(0);
  std::vector<bool> removed(dims.size(), false);
  if (context.has_input(1)) {
    const auto axes = context.known_data(1);
    if (!axes) return;
    for (const int64_t axis : checked_axes(context, *axes, context.rank(0))) {
      const Dim& dim = dims[static_cast<size_t>(axis)];
      context.require(!dim.known() || dim.is(1), "axis {} has length {}, only 1 can be removed", axis,
                      dim.text());
      removed[static_cast<size_t>(axis)] = true;
    }
  } else {
    if (!all_known(dims)) return;
    for (size_t i = 0; i < dims.size(); ++i) removed[i] = dims[i].is(1);
  }
  Dims result;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!removed[i]) result.push_back(dims[i]);
  }
  context.set_output(0, context.dtype(0), std::move(result));
  keep_data(context);
}

void infer_unsqueeze(InferenceContext& context) {
  context.set_output(0, context.dtype(0), std::nullopt);
  const auto axes = context.known_data(1);
  if (!context.ranked(0) || !axes) return;
  const auto rank = context.rank(0) + static_cast<int64_t>(axes->size());
  std::vector<bool> added(static_cast<size_t>(rank), false);
  for (const int64_t axis : checked_axes(context, *axes, rank)) added[static_cast<size_t>(axis)] = true;
  Dims result;
  size_t next = 0;
  for (const bool is_new : added) result.push_back(is_new ? Dim(1) : context.dims(0)[next++]);
  context.set_output(0, context.dtype(0), std::move(result));
  keep_data(context);
}

void infer_transpose(InferenceContext& context) {
  context.set_output(0, context.dtype(0), std::nullopt);
  if (!context.ranked(0)) return;
  const Dims& dims = context.dims(0);
  std::vector<int64_t> perm(dims.size());
  std::iota(perm.rbegin(), perm.rend(), 0);
  if (context.attributes().has("perm")) perm = context.attributes().get_ints("perm");
  context.require(perm.size() == dims.size(), "attribute 'perm' has {} entries, the input has rank {}",
                  perm.size(), dims.size());
  // Unlike other axes, those of a Transpose must not count from the end.
  context.require(std::none_of(perm.begin(), perm.end(), [](int64_t axis) { return axis < 0; }),
                  "attribute 'perm' has a negative entry");
  Dims result;
  for (const int64_t axis : checked_axes(context, perm, context.rank(0))) {
    result.push_back(dims[static_cast<size_t>(axis)]);
  }
  context.set_output(0, context.dtype(0), std::move(result));
}

void infer_shape(InferenceContext& context) {
  context.set_output(0, DType::kInt64, unknown_dims(1));
  if (!context.ranked(0)) return;
  const int64_t rank = context.rank(0);
  const auto clamped = [&](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  const int64_t start = clamped(context.attributes().get_int("start"));
  const int64_t end = std::max(start, clamped(context.attributes().get_or<int64_t>("end", rank)));
  const Dims& dims = context.dims(0);
  context.set_output(0, DType::kInt64, Dims{end - start});
  context.set_output_data(0, Dims(dims.begin() + start, dims.begin() + end));
}

void infer_size(InferenceContext& context) {
  context.set_output(0, DType::kInt64, Dims{});
  if (!context.ranked(0)) return;
  context.set_output_data(0, Dims{product(context.dims(0), 0, context.dims(0).size())});
}

int64_t block_size(const InferenceContext& context) {
  const int64_t size = context.attributes().get_int("blocksize");
  context.require(size >= 1 && size <= 1 << 20, "attribute 'blocksize' is {}", size);
  return size;
}

/// a / b, where b must divide a number.
Dim exact_quotient(const InferenceContext& context, const Dim& a, int64_t b, std::string_view what) {
  context.require(!a.known() || a.value() % b == 0, "{} {} is no multiple of {}", what, a.text(), b);
  return a / b;
}

void infer_depth_to_space(InferenceContext& context) {
  const int64_t block = block_size(context);
  require_choice(context, "mode", {"DCR", "CRD"});
  context.require_rank(0, 4, 4);
  context.set_output(0, context.dtype(0), unknown_dims(4));
  if (!context.ranked(0)) return;
  const Dims& d = context.dims(0);
  context.set_output(
      0, context.dtype(0),
      Dims{d[0], exact_quotient(context, d[1], block * block, "channel count"), d[2] * block, d[3] * block});
}

void infer_space_to_depth(InferenceContext& context) {
  const int64_t block = block_size(context);
  context.require_rank(0, 4, 4);
  context.set_output(0, context.dtype(0), unknown_dims(4));
  if (!context.ranked(0)) return;
  const Dims& d = context.dims(0);
  context.set_output(0, context.dtype(0),
                     Dims{d[0], d[1] * (block * block), exact_quotient(context, d[2], block, "height"),
                          exact_quotient(context, d[3], block, "width")});
}

/// True if the target shape copies the first dimension.
bool reshape_keeps_batch(const Graph& graph, const Node& node, int64_t) {
  const Tensor* shape = graph.constant(node.inputs[1]);
  return shape != nullptr && shape->size() > 0 && shape->to_int64().front() == 0 &&
         node.attributes.get_int("allowzero") == 0;
}

bool flatten_keeps_batch(const Graph&, const Node& node, int64_t) {
  return node.attributes.get_int("axis") == 1;
}

bool transpose_keeps_batch(const Graph&, const Node& node, int64_t) {
  return node.attributes.get_or<std::vector<int64_t>>("perm", {-1}).front() == 0;
}

}  // namespace

void add_layout_operators(std::vector<OperatorDef>& table) {
  const auto add = [&](const char* name, int since, int min_inputs, int max_inputs, InferRule infer,
                       std::vector<AttributeDef> attributes = {}) -> OperatorDef& {
    table.push_back({.name = name,
                     .since_version = since,
                     .min_inputs = min_inputs,
                     .max_inputs = max_inputs,
                     .attributes = std::move(attributes),
                     .infer = infer});
    return table.back();
  };
  const auto add_view = [&](const char* name, int min_inputs, int max_inputs, InferRule infer,
                            std::vector<AttributeDef> attributes, auto* keeps_batch) {
    OperatorDef& def = add(name, 21, min_inputs, max_inputs, infer, std::move(attributes));
    def.traits = {.view = true, .moves_only = true};
    def.keeps_batch = keeps_batch;
  };
  add_view("Reshape", 2, 2, infer_reshape, {int_attribute("allowzero", 0)}, reshape_keeps_batch);
  add_view("Flatten", 1, 1, infer_flatten, {int_attribute("axis", 1)}, flatten_keeps_batch);
  add_view("Squeeze", 1, 2, infer_squeeze, {}, keeps_batch_off_axes);
  add_view("Unsqueeze", 2, 2, infer_unsqueeze, {}, keeps_batch_off_axes);
  OperatorDef& transpose =
      add("Transpose", 21, 1, 1, infer_transpose, {optional_attribute("perm", Kind::kInts)});
  transpose.traits.moves_only = true;
  transpose.keeps_batch = transpose_keeps_batch;
  add("Shape", 21, 1, 1, infer_shape, {optional_attribute("end", Kind::kInt), int_attribute("start", 0)});
  add("Size", 21, 1, 1, infer_size);
  const auto add_blocks = [&](const char* name, InferRule infer, std::vector<AttributeDef> attributes) {
    OperatorDef& def = add(name, 13, 1, 1, infer, std::move(attributes));
    def.traits.moves_only = true;
    def.keeps_batch = keeps_batch_always;
  };
  add_blocks("DepthToSpace", infer_depth_to_space,
             {required_attribute("blocksize", Kind::kInt), string_attribute("mode", "DCR")});
  add_blocks("SpaceToDepth", infer_space_to_depth, {required_attribute("blocksize", Kind::kInt)});
}

}  // namespace hone::graph
