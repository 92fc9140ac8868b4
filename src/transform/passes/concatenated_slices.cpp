// Replaces a Concat whose operands are all slices of one value with a single movement of its elements.
// torch.roll, patch merging in Swin and the Focus layer of YOLO are exported in this form.
#include <algorithm>
#include <map>
#include <numeric>

#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"

namespace hone::transform {
namespace {

/// Limit on the indices that one concatenation may add to a model.
constexpr int64_t kMostIndices = 1 << 18;

/// `count` elements of an axis, every `step`-th one from `start` on.
struct Range {
  int64_t start = 0;
  int64_t step = 1;
  int64_t count = 0;
};

/// Slices of a value by axis; axes that are not sliced are left out.
struct Slices {
  ValueId of = kNoValue;
  std::map<int64_t, Range> ranges;
};

using Ints = std::vector<int64_t>;

/// The range that a Slice takes of each axis; nullopt if it is computed, goes backward, or concerns an axis
/// of unknown size.
std::optional<std::map<int64_t, Range>> ranges_of(const Graph& graph, const Node& slice) {
  const graph::TensorType& type = graph.value(slice.inputs[0]).type;
  const graph::TensorType& made = graph.value(slice.outputs[0]).type;
  if (!type.ranked() || !made.ranked()) return std::nullopt;
  const auto rank = static_cast<int64_t>(type.dims->size());
  const auto starts = known_integers(graph, slice.inputs[1]);
  if (!starts) return std::nullopt;
  auto axes = std::optional(Ints(starts->size()));
  std::iota(axes->begin(), axes->end(), 0);
  auto steps = std::optional(Ints(starts->size(), 1));
  if (slice.has_input(3)) axes = known_integers(graph, slice.inputs[3]);
  if (slice.has_input(4)) steps = known_integers(graph, slice.inputs[4]);
  if (!axes || !steps || axes->size() != starts->size() || steps->size() != starts->size())
    return std::nullopt;
  std::map<int64_t, Range> ranges;
  for (size_t i = 0; i < starts->size(); ++i) {
    const int64_t axis = tensor::normalize_axis((*axes)[i], rank);
    const graph::Dim& dim = (*type.dims)[static_cast<size_t>(axis)];
    const graph::Dim& taken = (*made.dims)[static_cast<size_t>(axis)];
    if (!dim.known() || !taken.known() || (*steps)[i] < 1) return std::nullopt;
    const int64_t size = dim.value();
    const int64_t start = (*starts)[i] < 0 ? (*starts)[i] + size : (*starts)[i];
    // A step beyond the end takes one element, like a step over the whole axis.
    ranges[axis] = {std::clamp<int64_t>(start, 0, size), std::min((*steps)[i], std::max<int64_t>(size, 1)),
                    taken.value()};
  }
  return ranges;
}

/// The value from which nested slices are taken; nullopt if `id` does not come from a Slice.
std::optional<Slices> slices_of(const Editor& editor, ValueId id) {
  Slices found{id, {}};
  while (const Node* slice = editor.made_by(found.of, "Slice")) {
    const auto outer = ranges_of(editor.graph(), *slice);
    if (!outer) break;
    for (const auto& [axis, range] : *outer) {
      const auto inner = found.ranges.find(axis);
      if (inner == found.ranges.end()) {
        found.ranges[axis] = range;
      } else {
        inner->second.start = range.start + inner->second.start * range.step;
        inner->second.step *= range.step;
      }
    }
    found.of = slice->inputs[0];
  }
  if (found.ranges.empty()) return std::nullopt;
  return found;
}

struct Pattern {
  ValueId x = kNoValue;
  int64_t axis = 0;  ///< of the Concat
  graph::Dims dims;  ///< of x
  std::vector<Slices> parts;
};

std::optional<Pattern> find_pattern(const Editor& editor, const Node& concat) {
  Pattern pattern;
  for (const ValueId input : concat.inputs) {
    const auto slices = slices_of(editor, input);
    if (!slices || (!pattern.parts.empty() && slices->of != pattern.x)) return std::nullopt;
    pattern.x = slices->of;
    pattern.parts.push_back(*slices);
  }
  const graph::TensorType& type = editor.graph().value(pattern.x).type;
  if (pattern.parts.size() < 2 || !type.ranked()) return std::nullopt;
  pattern.dims = *type.dims;
  pattern.axis =
      tensor::normalize_axis(concat.attributes.get_int("axis"), static_cast<int64_t>(pattern.dims.size()));
  return pattern;
}

ValueId add_integers(Editor& editor, const Node& node, const char* what, const Ints& values) {
  return editor.add_constant(node.name + what,
                             tensor::Tensor::of<int64_t>(values, {static_cast<int64_t>(values.size())}));
}

/// If slices are only along the axis of the Concat, they become one Gather along it.
bool gather(Editor& editor, int32_t index, const Pattern& pattern) {
  int64_t count = 0;
  for (const Slices& part : pattern.parts) {
    if (part.ranges.size() != 1 || part.ranges.begin()->first != pattern.axis) return false;
    count += std::min(part.ranges.begin()->second.count, kMostIndices);
    if (count > kMostIndices) return false;
  }
  Ints indices;
  for (const Slices& part : pattern.parts) {
    const Range& range = part.ranges.begin()->second;
    for (int64_t i = 0; i < range.count; ++i) indices.push_back(range.start + i * range.step);
  }
  const Node concat = editor.node(index);
  Node node = derived_node(concat, "Gather", {pattern.x, add_integers(editor, concat, ".indices", indices)});
  node.attributes.set("axis", pattern.axis);
  editor.replace(index, std::move(node));
  return true;
}

/// Axes along which every part has every `step`-th element. `order` lists these axes so that, from one part
/// to the next, the offset along the last axis changes first.
struct Blocks {
  std::map<int64_t, int64_t> steps;
  Ints order;
};

std::optional<Blocks> blocks_of(const Pattern& pattern) {
  Blocks blocks;
  int64_t parts = 1;
  for (const auto& [axis, range] : pattern.parts[0].ranges) {
    const graph::Dim& dim = pattern.dims[static_cast<size_t>(axis)];
    if (!dim.known() || axis == pattern.axis || range.step < 2 || dim.value() % range.step != 0)
      return std::nullopt;
    blocks.steps[axis] = range.step;
    parts *= range.step;
  }
  if (parts != static_cast<int64_t>(pattern.parts.size())) return std::nullopt;
  // The distance between two parts whose offsets differ by one along an axis.
  std::map<int64_t, int64_t> distances;
  for (const auto& [axis, step] : blocks.steps) {
    const auto second =
        std::find_if(pattern.parts.begin(), pattern.parts.end(), [&, axis = axis](const Slices& part) {
          return part.ranges.contains(axis) && part.ranges.at(axis).start == 1;
        });
    distances[axis] = second - pattern.parts.begin();
    blocks.order.push_back(axis);
  }
  std::sort(blocks.order.begin(), blocks.order.end(),
            [&](int64_t a, int64_t b) { return distances[a] > distances[b]; });
  int64_t number = 0;
  for (const Slices& part : pattern.parts) {
    if (part.ranges.size() != blocks.steps.size()) return std::nullopt;
    int64_t expected = 0;
    for (const int64_t axis : blocks.order) {
      const auto range = part.ranges.find(axis);
      if (range == part.ranges.end() || range->second.step != blocks.steps[axis] ||
          range->second.start >= range->second.step ||
          range->second.count != pattern.dims[static_cast<size_t>(axis)].value() / range->second.step)
        return std::nullopt;
      expected = expected * range->second.step + range->second.start;
    }
    if (expected != number++) return std::nullopt;
  }
  return blocks;
}

/// Handles parts with every offset of some axes exactly once: the offsets become separate dimensions that are
/// moved before the axis of the Concat.
bool rearrange(Editor& editor, int32_t index, const Pattern& pattern) {
  const auto blocks = blocks_of(pattern);
  if (!blocks) return false;
  const auto rank = static_cast<int64_t>(pattern.dims.size());
  const int64_t first = std::min(pattern.axis, blocks->steps.begin()->first);
  if (!std::all_of(pattern.dims.begin() + first, pattern.dims.end(),
                   [](const graph::Dim& dim) { return dim.known(); }))
    return false;
  Ints split;
  std::map<int64_t, int64_t> rest_at;  // position of an axis in the split shape
  std::map<int64_t, int64_t> offset_at;
  Ints result;
  for (int64_t axis = 0; axis < rank; ++axis) {
    const int64_t size = axis < first ? 0 : pattern.dims[static_cast<size_t>(axis)].value();
    rest_at[axis] = static_cast<int64_t>(split.size());
    const auto step = blocks->steps.find(axis);
    if (step == blocks->steps.end()) {
      split.push_back(size);
      result.push_back(axis == pattern.axis ? size * static_cast<int64_t>(pattern.parts.size()) : size);
      continue;
    }
    split.push_back(size / step->second);
    offset_at[axis] = static_cast<int64_t>(split.size());
    split.push_back(step->second);
    result.push_back(size / step->second);
  }
  Ints perm;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (axis == pattern.axis) {
      for (const int64_t offset : blocks->order) perm.push_back(offset_at[offset]);
    }
    perm.push_back(rest_at[axis]);
  }
  const Node concat = editor.node(index);
  const graph::DType dtype = editor.graph().value(pattern.x).type.dtype;
  const auto insert = [&](const char* op, std::vector<ValueId> inputs, const char* what) {
    Node node = derived_node(concat, op, std::move(inputs));
    node.name = concat.name + what;
    node.outputs = {editor.add_value(node.name, dtype)};
    return node;
  };
  Node parts = insert("Reshape", {pattern.x, add_integers(editor, concat, ".split_shape", split)}, ".split");
  Node moved = insert("Transpose", {parts.outputs[0]}, ".moved");
  moved.attributes.set("perm", perm);
  Node joined =
      derived_node(concat, "Reshape", {moved.outputs[0], add_integers(editor, concat, ".shape", result)});
  editor.insert_before(index, std::move(parts));
  editor.insert_before(index, std::move(moved));
  editor.replace(index, std::move(joined));
  return true;
}

}  // namespace

Summary concatenated_slices(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  const int32_t count = editor.count();
  for (int32_t i = 0; i < count; ++i) {
    if (!editor.alive(i) || editor.node(i).op != "Concat") continue;
    const auto pattern = find_pattern(editor, editor.node(i));
    if (!pattern) continue;
    const std::string name = editor.node(i).name;
    if (gather(editor, i, *pattern)) {
      summary.change(fmt::format("'{}' became a Gather of the input of its slices", name));
    } else if (rearrange(editor, i, *pattern)) {
      summary.change(fmt::format("'{}' became a Transpose of the input of its slices", name));
    }
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
