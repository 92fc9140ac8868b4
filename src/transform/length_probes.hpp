// Infers a graph at two lengths of its caches: sizes that differ are those of the past, or of past and new
// tokens together. Internal to fix_caches().
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "graph/infer.hpp"

namespace hone::transform {

using graph::Dim;
using graph::Graph;
using graph::Value;
using graph::ValueId;
using tensor::Shape;

/// Two lengths of the past that are below the size of any table of positions, and sizes of the batch and of
/// other open dimensions. None of them is 1, which would be broadcast.
inline constexpr std::array<int64_t, 2> kPasts{2, 4};
inline constexpr int64_t kBatch = 2;
inline constexpr int64_t kNew = 3;

/// The relation of a size to the two lengths.
enum class Length : uint8_t { kFixed, kPast, kTotal, kOther };

inline Length length_of(const Dim& a, const Dim& b) {
  if (!a.known() || !b.known()) return Length::kOther;
  if (a.value() == b.value()) return Length::kFixed;
  if (a.is(kPasts[0]) && b.is(kPasts[1])) return Length::kPast;
  if (a.is(kPasts[0] + kNew) && b.is(kPasts[1] + kNew)) return Length::kTotal;
  return Length::kOther;
}

/// Thrown and caught inside the pass: the incomplete rewrite is discarded, because it works on a copy.
struct Refused {
  std::string reason;
};

template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw Refused{fmt::format(format, std::forward<Args>(args)...)};
}

/// The only open dimension after the batch.
inline size_t cache_axis(const Value& cache) {
  std::optional<size_t> axis;
  const size_t rank = cache.type.ranked() ? cache.type.dims->size() : 0;
  for (size_t i = 1; i < rank; ++i) {
    if ((*cache.type.dims)[i].known()) continue;
    if (axis) refuse("'{}' has several open dimensions after the batch", cache.name);
    axis = i;
  }
  if (!axis) refuse("'{}' has no open dimension after the batch", cache.name);
  if ((*cache.type.dims)[*axis].symbol().empty())
    refuse("the open dimension of '{}' has no name", cache.name);
  return *axis;
}

/// The graph at both lengths.
class Probes {
 public:
  Probes(const Graph& graph, const std::string& past) {
    for (size_t i = 0; i < kPasts.size(); ++i) {
      std::map<std::string, Shape> shapes;
      for (const ValueId id : graph.inputs)
        shapes[graph.value(id).name] = shape_of(graph.value(id), past, kPasts[i]);
      try {
        graphs_[i] = graph::with_input_shapes(graph, shapes);
      } catch (const Error& error) {
        refuse("inputs of one length do not fit caches of another: {}", error.what());
      }
    }
  }

  size_t rank(ValueId id) const {
    const auto& type = graphs_[0].value(id).type;
    return type.ranked() ? type.dims->size() : 0;
  }

  Length dim(ValueId id, size_t axis) const {
    const auto& a = graphs_[0].value(id).type;
    const auto& b = graphs_[1].value(id).type;
    if (!a.ranked() || !b.ranked() || a.dims->size() != b.dims->size()) return Length::kOther;
    return length_of((*a.dims)[axis], (*b.dims)[axis]);
  }

  bool ranked(ValueId id) const {
    return graphs_[0].value(id).type.ranked() && graphs_[1].value(id).type.ranked() &&
           graphs_[0].value(id).type.dims->size() == graphs_[1].value(id).type.dims->size();
  }

  /// A size at the first length.
  int64_t size(ValueId id, size_t axis) const { return (*graphs_[0].value(id).type.dims)[axis].value(); }

  /// Axes along which the value has one element for each token.
  std::vector<size_t> total_axes(ValueId id) const {
    std::vector<size_t> axes;
    for (size_t i = 0; i < rank(id); ++i) {
      if (dim(id, i) == Length::kTotal) axes.push_back(i);
    }
    return axes;
  }

  /// For a small integer value, the relation of each element to the lengths; nothing if shape inference does
  /// not know the elements.
  std::optional<std::vector<Length>> data(ValueId id) const {
    std::array<std::vector<Dim>, 2> elements;
    for (size_t i = 0; i < 2; ++i) {
      const Value& value = graphs_[i].value(id);
      if (value.data) {
        elements[i] = *value.data;
      } else if (value.constant && tensor::is_integer(value.constant->dtype()) &&
                 value.constant->size() <= 64) {
        for (const int64_t element : value.constant->to_int64()) elements[i].emplace_back(element);
      } else {
        return std::nullopt;
      }
    }
    if (elements[0].size() != elements[1].size()) return std::nullopt;
    std::vector<Length> lengths;
    for (size_t i = 0; i < elements[0].size(); ++i)
      lengths.push_back(length_of(elements[0][i], elements[1][i]));
    return lengths;
  }

  std::optional<int64_t> fixed_element(ValueId id, size_t index) const {
    const auto lengths = data(id);
    if (!lengths || index >= lengths->size() || (*lengths)[index] != Length::kFixed) return std::nullopt;
    const Value& value = graphs_[0].value(id);
    return value.data ? (*value.data)[index].value() : value.constant->to_int64()[index];
  }

 private:
  static Shape shape_of(const Value& input, const std::string& past, int64_t length) {
    if (!input.type.ranked()) refuse("input '{}' has no known rank", input.name);
    Shape shape;
    for (const Dim& dim : *input.type.dims) {
      if (dim.known()) {
        shape.push_back(dim.value());
      } else if (dim.symbol() == past) {
        shape.push_back(length);
      } else {
        shape.push_back(shape.empty() ? kBatch : kNew);
      }
    }
    return shape;
  }

  std::array<Graph, 2> graphs_;
};

inline bool depends_on_length(const std::vector<Length>& lengths) {
  return std::any_of(lengths.begin(), lengths.end(), [](Length length) { return length != Length::kFixed; });
}

}  // namespace hone::transform
