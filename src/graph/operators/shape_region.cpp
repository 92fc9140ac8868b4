// Operator table entries that join, cut, repeat or pad parts of tensors.
#include <algorithm>

#include "graph/operators/batch_rules.hpp"
#include "graph/operators/rules.hpp"
#include "graph/operators/shape_parts.hpp"

namespace hone::graph {
namespace {

using Kind = AttributeKind;

void infer_concat(InferenceContext& context) {
  std::optional<Dims> result;
  std::optional<Dims> data = Dims{};
  bool ranked = true;
  for (size_t i = 0; i < context.input_count(); ++i) {
    require_same_dtype(context, 0, i);
    if (!context.ranked(i)) {
      ranked = false;
      continue;
    }
    const Dims& dims = context.dims(i);
    const auto axis = static_cast<size_t>(context.axis("axis", context.rank(i)));
    context.require(!result || result->size() == dims.size(), "inputs have ranks {} and {}",
                    result ? result->size() : 0, dims.size());
    for (size_t d = 0; result && d < dims.size(); ++d) {
      (*result)[d] = d == axis ? (*result)[d] + dims[d]
                               : unify(context, (*result)[d], dims[d], fmt::format("dimension {}", d));
    }
    if (!result) result = dims;
    const auto part = context.data(i);
    if (data && part && dims.size() == 1) {
      data->insert(data->end(), part->begin(), part->end());
    } else {
      data.reset();
    }
  }
  if (!ranked) {
    const auto known_rank =
        result ? std::optional(unknown_dims(static_cast<int64_t>(result->size()))) : std::nullopt;
    context.set_output(0, context.dtype(0), known_rank);
    return;
  }
  context.set_output(0, context.dtype(0), std::move(result));
  if (data) context.set_output_data(0, std::move(*data));
}

/// Lengths of the parts, as far as they are known.
Dims split_lengths(const InferenceContext& context, const Dim& length) {
  const size_t count = context.output_count();
  if (context.has_input(1)) {
    context.require(!context.attributes().has("num_outputs"),
                    "input 'split' and attribute 'num_outputs' exclude each other");
    const auto data = context.data(1);
    if (!data) return Dims(count);
    context.require(data->size() == count, "input 'split' has {} lengths for {} outputs", data->size(),
                    count);
    Dim sum = 0;
    for (const Dim& part : *data) {
      context.require(!part.known() || part.value() >= 0, "input 'split' has length {}", part.text());
      sum = sum + part;
    }
    context.require(!sum.known() || !length.known() || sum.same_as(length),
                    "parts sum up to {}, the axis has length {}", sum.text(), length.text());
    return *data;
  }
  const auto parts = context.attributes().get_or<int64_t>("num_outputs", static_cast<int64_t>(count));
  context.require(parts == static_cast<int64_t>(count),
                  "attribute 'num_outputs' is {}, the node has {} outputs", parts, count);
  if (!length.known()) return Dims(count);
  const int64_t part = (length.value() + parts - 1) / parts;
  const int64_t last = length.value() - part * (parts - 1);
  context.require(last >= 0, "an axis of length {} cannot be split into {} parts", length.value(), parts);
  Dims lengths(count, Dim(part));
  lengths.back() = last;
  return lengths;
}

void infer_split(InferenceContext& context) {
  for (size_t i = 0; i < context.output_count(); ++i) context.set_output(i, context.dtype(0), std::nullopt);
  if (!context.ranked(0)) return;
  const auto axis = static_cast<size_t>(context.axis("axis", context.rank(0)));
  const Dims lengths = split_lengths(context, context.dims(0)[axis]);
  const auto data = context.rank(0) == 1 ? context.data(0) : std::nullopt;
  int64_t begin = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    Dims dims = context.dims(0);
    dims[axis] = lengths[i];
    context.set_output(i, context.dtype(0), std::move(dims));
    if (!data || !all_known(lengths)) continue;
    context.set_output_data(i, Dims(data->begin() + begin, data->begin() + begin + lengths[i].value()));
    begin += lengths[i].value();
  }
}

/// One axis of a Slice, clamped as ONNX prescribes.
struct Range {
  int64_t start, step, count;
};

Range clamp_range(int64_t length, int64_t start, int64_t end, int64_t step) {
  const auto wrap = [&](int64_t at) { return at < 0 ? at + length : at; };
  if (step > 0) {
    const int64_t first = std::clamp<int64_t>(wrap(start), 0, length);
    const int64_t last = std::clamp<int64_t>(wrap(end), 0, length);
    return {first, step, last <= first ? 0 : (last - first - 1) / step + 1};
  }
  if (length == 0) return {0, step, 0};
  const int64_t first = std::clamp<int64_t>(wrap(start), 0, length - 1);
  const int64_t last = std::clamp<int64_t>(wrap(end), -1, length - 1);
  // -step would overflow for the smallest integer; a single step of INT64_MAX also passes every end.
  const int64_t stride = step == INT64_MIN ? INT64_MAX : -step;
  return {first, step, first <= last ? 0 : (first - last - 1) / stride + 1};
}

void infer_slice(InferenceContext& context) {
  context.set_output(0, context.dtype(0), std::nullopt);
  for (size_t i = 1; i < context.input_count(); ++i) {
    if (context.has_input(i)) require_index_type(context, i);
  }
  if (!context.ranked(0)) return;
  context.set_output(0, context.dtype(0), unknown_dims(context.rank(0)));
  const auto starts = context.data(1);
  const auto ends = context.data(2);
  if (!starts || !ends) return;
  context.require(starts->size() == ends->size(), "{} starts and {} ends", starts->size(), ends->size());
  std::vector<int64_t> axes(starts->size());
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
  std::vector<int64_t> steps(starts->size(), 1);
  for (const auto& [index, list] : {std::pair{size_t{3}, &axes}, std::pair{size_t{4}, &steps}}) {
    if (!context.has_input(index)) continue;
    auto known = context.known_data(index);
    if (!known) return;
    context.require(known->size() == starts->size(), "input {} has {} entries, expected {}", index,
                    known->size(), starts->size());
    *list = std::move(*known);
  }
  axes = checked_axes(context, axes, context.rank(0));
  Dims result = context.dims(0);
  auto data = context.rank(0) == 1 ? context.data(0) : std::nullopt;
  for (size_t i = 0; i < axes.size(); ++i) {
    context.require(steps[i] != 0, "a step is 0");
    Dim& dim = result[static_cast<size_t>(axes[i])];
    const Dim& start = (*starts)[i];
    const Dim& end = (*ends)[i];
    constexpr int64_t kOpenEnd = INT32_MAX;
    if (start.is(0) && steps[i] == 1 && end.known() && end.value() >= kOpenEnd) continue;
    if (start.is(0) && steps[i] == 1 && end.same_as(dim)) continue;
    if (!dim.known() || !start.known() || !end.known()) {
      dim = Dim();
      data.reset();
      continue;
    }
    const Range range = clamp_range(dim.value(), start.value(), end.value(), steps[i]);
    dim = range.count;
    if (!data) continue;
    Dims picked;
    for (int64_t k = 0; k < range.count; ++k)
      picked.push_back((*data)[static_cast<size_t>(range.start + k * range.step)]);
    data = std::move(picked);
  }
  context.set_output(0, context.dtype(0), std::move(result));
  if (data) context.set_output_data(0, std::move(*data));
}

void infer_pad(InferenceContext& context) {
  require_choice(context, "mode", {"constant", "reflect", "edge", "wrap"});
  require_index_type(context, 1);
  if (context.has_input(2)) require_same_dtype(context, 0, 2);
  context.set_output(0, context.dtype(0), std::nullopt);
  if (!context.ranked(0)) return;
  Dims result = context.dims(0);
  context.set_output(0, context.dtype(0), unknown_dims(context.rank(0)));
  std::vector<int64_t> axes(result.size());
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
  if (context.has_input(3)) {
    const auto known = context.known_data(3);
    if (!known) return;
    axes = checked_axes(context, *known, context.rank(0));
  }
  const auto pads = context.data(1);
  if (!pads) return;
  context.require(pads->size() == 2 * axes.size(), "input 'pads' has {} entries, expected {}", pads->size(),
                  2 * axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim& dim = result[static_cast<size_t>(axes[i])];
    dim = dim + ((*pads)[i] + (*pads)[i + axes.size()]);
    context.require(!dim.known() || dim.value() >= 0, "padding leaves axis {} with length {}", axes[i],
                    dim.text());
  }
  context.set_output(0, context.dtype(0), std::move(result));
}

void infer_expand(InferenceContext& context) {
  require_index_type(context, 1);
  context.set_output(0, context.dtype(0), std::nullopt);
  const auto rank = described_rank(context, 1);
  if (!context.ranked(0) || !rank) return;
  context.set_output(0, context.dtype(0), unknown_dims(std::max(*rank, context.rank(0))));
  const auto data = context.data(1);
  if (!data) return;
  for (const Dim& dim : *data) {
    context.require(!dim.known() || dim.value() >= 0, "the new shape has dimension {}", dim.text());
  }
  context.set_output(0, context.dtype(0), broadcast_dims(context.dims(0), *data));
}

void infer_tile(InferenceContext& context) {
  require_index_type(context, 1);
  context.set_output(0, context.dtype(0), std::nullopt);
  if (!context.ranked(0)) return;
  Dims result = unknown_dims(context.rank(0));
  if (const auto repeats = context.data(1)) {
    context.require(repeats->size() == result.size(), "input 'repeats' has {} entries, the input has rank {}",
                    repeats->size(), result.size());
    for (size_t i = 0; i < result.size(); ++i) {
      const Dim& count = (*repeats)[i];
      context.require(!count.known() || count.value() >= 0, "input 'repeats' has entry {}", count.text());
      result[i] = context.dims(0)[i] * count;
    }
  }
  context.set_output(0, context.dtype(0), std::move(result));
}

void infer_center_crop_pad(InferenceContext& context) {
  require_index_type(context, 1);
  context.set_output(0, context.dtype(0), std::nullopt);
  if (!context.ranked(0)) return;
  Dims result = context.dims(0);
  std::vector<int64_t> axes(result.size());
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
  if (context.attributes().has("axes")) {
    axes = checked_axes(context, context.attributes().get_ints("axes"), context.rank(0));
  }
  const auto shape = context.data(1).value_or(Dims(axes.size()));
  context.require(shape.size() == axes.size(), "input 'shape' has {} entries for {} axes", shape.size(),
                  axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    context.require(!shape[i].known() || shape[i].value() >= 0, "input 'shape' has entry {}",
                    shape[i].text());
    result[static_cast<size_t>(axes[i])] = shape[i];
  }
  context.set_output(0, context.dtype(0), std::move(result));
}

}  // namespace

void add_region_operators(std::vector<OperatorDef>& table) {
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
  constexpr Traits kMoves = {.moves_only = true};
  OperatorDef& concat =
      add("Concat", 13, 1, OperatorDef::kVariadic, infer_concat, {required_attribute("axis", Kind::kInt)});
  concat.traits = kMoves;
  concat.keeps_batch = keeps_batch_off_axis;
  table.push_back({.name = "Split",
                   .since_version = 18,
                   .min_inputs = 1,
                   .max_inputs = 2,
                   .max_outputs = OperatorDef::kVariadic,
                   .attributes = {int_attribute("axis", 0), optional_attribute("num_outputs", Kind::kInt)},
                   .infer = infer_split,
                   .traits = kMoves});
  OperatorDef& slice = add("Slice", 13, 3, 5, infer_slice);
  slice.traits = kMoves;
  slice.keeps_batch = keeps_batch_off_axes;
  add("Pad", 21, 2, 4, infer_pad, {string_attribute("mode", "constant")});
  add("Expand", 13, 2, 2, infer_expand).traits = kMoves;
  add("Tile", 13, 2, 2, infer_tile).traits = kMoves;
  add("CenterCropPad", 18, 2, 2, infer_center_crop_pad, {optional_attribute("axes", Kind::kInts)});
}

}  // namespace hone::graph
