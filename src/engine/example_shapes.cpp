// See example_shapes.hpp.
#include "engine/example_shapes.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "engine/complete_profiles.hpp"

namespace hone::engine {
namespace {

std::vector<int64_t> example_sizes(const graph::Dims& dims, const std::map<std::string, int64_t>& sizes) {
  // The usual rank of images; other inputs are mostly tokens or samples.
  constexpr size_t kImageRank = 4;
  const int64_t usual = dims.size() >= kImageRank ? 224 : 128;
  std::vector<int64_t> shape;
  for (const graph::Dim& dim : dims) {
    const auto size = sizes.find(dim.symbol());
    const int64_t open = size != sizes.end() ? size->second : shape.empty() ? 1 : usual;
    shape.push_back(dim.known() ? dim.value() : open);
  }
  return shape;
}

}  // namespace

std::string example_shape(const graph::Dims& dims) {
  return fmt::format("{}", fmt::join(example_sizes(dims, {}), "x"));
}

std::string example_shapes(const graph::Graph& graph, const std::map<std::string, int64_t>& sizes) {
  std::map<std::string, int64_t> known = sizes;
  std::vector<std::string> shapes;
  for (const graph::ValueId id : graph.inputs) {
    const graph::Value& input = graph.value(id);
    if (!input.type.ranked() || input.type.dims->empty()) continue;
    const graph::Dims& dims = *input.type.dims;
    const bool needed = std::any_of(dims.begin() + 1, dims.end(), [&](const graph::Dim& dim) {
      return !dim.known() && !known.contains(dim.symbol());
    });
    if (!needed) continue;
    const std::vector<int64_t> shape = example_sizes(dims, known);
    shapes.push_back(fmt::format("{}:{}", input.name, fmt::join(shape, "x")));
    for (size_t i = 0; i < dims.size(); ++i) {
      if (!dims[i].known() && !dims[i].symbol().empty()) known.try_emplace(dims[i].symbol(), shape[i]);
    }
  }
  return fmt::format("{}", fmt::join(shapes, " "));
}

std::string example_dims(const graph::Graph& graph, const std::map<std::string, int64_t>& sizes) {
  std::map<std::string, int64_t> known = sizes;
  std::vector<std::string> items;
  for (const graph::ValueId id : graph.inputs) {
    const graph::Value& input = graph.value(id);
    if (!input.type.ranked()) continue;
    const graph::Dims& dims = *input.type.dims;
    const std::vector<int64_t> shape = example_sizes(dims, known);
    for (size_t i = 1; i < dims.size(); ++i) {
      if (dims[i].known()) continue;
      if (dims[i].symbol().empty()) return "";
      if (known.try_emplace(dims[i].symbol(), shape[i]).second)
        items.push_back(fmt::format("{}={}", dims[i].symbol(), shape[i]));
    }
  }
  return fmt::format("{}", fmt::join(items, " "));
}

}  // namespace hone::engine
