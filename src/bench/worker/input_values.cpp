// See input_values.hpp.
#include "bench/worker/input_values.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "graph/operator.hpp"

namespace hone::bench {
namespace {

std::optional<int64_t> looked_up_size(const graph::Graph& graph, const graph::Node& node) {
  const graph::TensorType& table = graph.value(node.input(0)).type;
  if (!table.ranked()) return std::nullopt;
  const auto rank = static_cast<int64_t>(table.dims->size());
  const int64_t axis = node.attributes.get_int("axis");
  const int64_t index = axis < 0 ? axis + rank : axis;
  if (index < 0 || index >= rank || !(*table.dims)[static_cast<size_t>(index)].known()) return std::nullopt;
  return (*table.dims)[static_cast<size_t>(index)].value();
}

/// The size of the smallest table that the input indexes; nothing if it indexes none.
std::optional<int64_t> table_size(const graph::Graph& graph, graph::ValueId input) {
  std::optional<int64_t> smallest;
  std::set<graph::ValueId> carried{input};
  for (const graph::Node& node : graph.nodes) {
    const graph::Traits& traits = graph::traits_of(node);
    if ((traits.moves_only || traits.converts) && carried.contains(node.input(0)))
      carried.insert(node.outputs.begin(), node.outputs.end());
    carried.erase(graph::kNoValue);
    if (!traits.indexes_axis || !carried.contains(node.input(1))) continue;
    const std::optional<int64_t> size = looked_up_size(graph, node);
    if (size && *size > 0) smallest = std::min(*size, smallest.value_or(*size));
  }
  return smallest;
}

}  // namespace

InputValues values_of(const graph::Graph& graph, graph::ValueId input) {
  const graph::Value& value = graph.value(input);
  if (value.name.find("attention_mask") != std::string::npos) return {InputValues::Kind::kOnes};
  if (!tensor::is_integer(value.type.dtype)) return {};
  if (value.name.find("position_ids") != std::string::npos) return {.kind = InputValues::Kind::kCounting};
  if (const auto size = table_size(graph, input)) return {InputValues::Kind::kBelow, *size};
  return {};
}

}  // namespace hone::bench
