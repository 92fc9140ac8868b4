// See fixed_caches.hpp.
#include "transform/fixed_caches.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/error.hpp"
#include "graph/infer.hpp"
#include "graph/operator.hpp"
#include "graph/verify.hpp"
#include "transform/length_probes.hpp"

namespace hone::transform {
namespace {

using graph::Attributes;
using graph::kNoValue;
using graph::Node;
using tensor::DType;
using tensor::Tensor;

Attributes with(const char* name, graph::Attribute value) {
  Attributes attributes;
  attributes.set(name, std::move(value));
  return attributes;
}

class CacheFixer {
 public:
  CacheFixer(const Graph& graph, std::span<const CacheEnds> caches, int64_t capacity)
      : from_(graph),
        graph_(graph),
        capacity_(capacity),
        past_(symbol_of(graph, caches)),
        probes_(graph, past_) {
    for (const CacheEnds& ends : caches) note_cache(ends);
  }

  Graph run() {
    graph_.nodes.clear();
    length_ = graph_.add_value(std::string(kCacheLength), {DType::kInt64, graph::Dims{Dim(1)}});
    graph_.inputs.push_back(length_);
    make_lengths();
    for (const Node& node : from_.nodes) rewrite(node);
    check_outputs();
    for (const auto& [id, axis] : cache_inputs_) (*graph_.value(id).type.dims)[axis] = Dim(capacity_);
    for (const Node& node : graph_.nodes) {
      for (const ValueId id : node.outputs) {
        if (id == kNoValue) continue;
        graph_.value(id).type.dims.reset();
        graph_.value(id).data.reset();
      }
    }
    for (const CacheEnds& ends : ends_) graph_.value(graph_.outputs[ends.output]).type.dims.reset();
    graph::infer_types(graph_);
    graph::verify(graph_, "giving caches a fixed capacity");
    return std::move(graph_);
  }

 private:
  static std::string symbol_of(const Graph& graph, std::span<const CacheEnds> caches) {
    const Value& first = graph.value(graph.inputs[caches.front().input]);
    const std::string symbol = (*first.type.dims)[cache_axis(first)].symbol();
    for (const CacheEnds& ends : caches) {
      const Value& cache = graph.value(graph.inputs[ends.input]);
      if ((*cache.type.dims)[cache_axis(cache)].symbol() != symbol)
        refuse("'{}' is not as long as '{}'", cache.name, first.name);
    }
    for (const ValueId id : graph.inputs) {
      if (graph.value(id).name == kCacheLength) refuse("an input is named '{}' already", kCacheLength);
    }
    return symbol;
  }

  void note_cache(const CacheEnds& ends) {
    const ValueId input = from_.inputs[ends.input];
    const ValueId output = from_.outputs[ends.output];
    const size_t axis = cache_axis(from_.value(input));
    const auto makes = [&](const Node& node) { return node.output(0) == output; };
    const auto found = std::find_if(from_.nodes.begin(), from_.nodes.end(), makes);
    const bool appends = found != from_.nodes.end() && found->op == "Concat" && found->inputs.size() == 2 &&
                         found->input(0) == input && probes_.dim(output, axis) == Length::kTotal;
    if (!appends)
      refuse("'{}' is not '{}' with new tokens appended", from_.value(output).name, from_.value(input).name);
    ends_.push_back(ends);
    cache_inputs_[input] = axis;
    appended_[output] = axis;
  }

  ValueId emit(std::string op, const std::string& name, std::vector<ValueId> inputs,
               Attributes attributes = {}) {
    const ValueId result = graph_.add_value(fmt::format("{}.{}", name, made_++));
    emit_as(result, std::move(op), name, std::move(inputs), std::move(attributes));
    return result;
  }

  void emit_as(ValueId result, std::string op, const std::string& name, std::vector<ValueId> inputs,
               Attributes attributes = {}) {
    Node node{name, std::move(op), std::move(attributes), std::move(inputs), {result}, {name}};
    graph::complete_node(node);
    graph_.add_node(std::move(node));
  }

  ValueId ints(const std::vector<int64_t>& values) {
    const auto count = static_cast<int64_t>(values.size());
    return graph_.add_constant(fmt::format("cache.ints.{}", made_++), Tensor::of<int64_t>(values, {count}));
  }

  /// Makes int64 [1] values with the number of new tokens and of all tokens, and an int64 [new] value with
  /// the positions of the new ones.
  void make_lengths() {
    for (const ValueId id : from_.inputs) {
      const Value& value = from_.value(id);
      for (size_t axis = 1; axis < value.type.dims->size(); ++axis) {
        const Dim& dim = (*value.type.dims)[axis];
        if (dim.known() || dim.symbol() == past_ || new_ != kNoValue) continue;
        Attributes part = with("start", static_cast<int64_t>(axis));
        part.set("end", static_cast<int64_t>(axis) + 1);
        new_ = emit("Shape", "cache.new", {id}, std::move(part));
      }
    }
    if (new_ == kNoValue) refuse("no input says how many tokens are new");
    total_ = emit("Add", "cache.total", {length_, new_});
    const ValueId zero = graph_.add_constant("cache.zero", Tensor::scalar(int64_t{0}));
    const ValueId one = graph_.add_constant("cache.one", Tensor::scalar(int64_t{1}));
    const ValueId end = emit("Squeeze", "cache.end", {new_});
    counted_ = emit("Range", "cache.counted", {zero, end, one});
    places_ = emit("Add", "cache.places", {counted_, length_});
  }

  void rewrite(const Node& node) {
    if (appended_.contains(node.output(0))) return append(node);
    if (is_arithmetic(node)) {
      graph_.nodes.push_back(node);
      return;
    }
    if (node.op == "Range" && reads_lengths(node)) return rewrite_range(node);
    if (node.op == "Slice" && reads_lengths(node)) return rewrite_slice(node);
    Node copy = node;
    for (size_t i = 0; i < copy.inputs.size(); ++i) {
      const ValueId id = copy.inputs[i];
      if (!is_length(id)) continue;
      if (graph::has_body(node)) refuse("{} reads a length in its body", node.text());
      copy.inputs[i] = is_extent(node, i) ? as_extent(id) : as_number(id);
    }
    check_padding(node);
    if (node.op == "Softmax") mask(copy);
    graph_.nodes.push_back(std::move(copy));
  }

  /// True if a node produces only small integers. Its readers compute them again if they depend on lengths.
  bool is_arithmetic(const Node& node) const {
    bool varies = false;
    for (const ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      const auto lengths = probes_.data(id);
      if (!lengths) return false;
      for (const Length length : *lengths) {
        if (length == Length::kOther) return false;
        varies = varies || length != Length::kFixed;
      }
    }
    return varies;
  }

  /// True for a small integer value with elements that are lengths.
  bool is_length(ValueId id) const {
    if (id == kNoValue) return false;
    const auto lengths = probes_.data(id);
    return lengths && depends_on_length(*lengths) && !computed_.contains(id);
  }

  /// The lengths in a value for which is_length() holds.
  std::vector<Length> lengths_of(ValueId id) const {
    return probes_.data(id).value_or(std::vector<Length>());
  }

  bool reads_lengths(const Node& node) const {
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return is_length(id); });
  }

  /// True if an input gives the size of the output.
  static bool is_extent(const Node& node, size_t input) {
    if (node.op == "ConstantOfShape") return input == 0;
    return (node.op == "Reshape" || node.op == "Expand") && input == 1;
  }

  /// Replaces the elements that are `length` by another value, of int64 [1].
  ValueId replaced(ValueId value, Length length, ValueId by) {
    const std::vector<Length> lengths = lengths_of(value);
    if (std::find(lengths.begin(), lengths.end(), length) == lengths.end()) return value;
    const size_t rank = probes_.rank(value);
    Tensor where(DType::kBool, rank == 0 ? Shape{} : Shape{static_cast<int64_t>(lengths.size())});
    for (size_t i = 0; i < lengths.size(); ++i) where.mutable_values<bool>()[i] = lengths[i] == length;
    const ValueId mask = graph_.add_constant(fmt::format("cache.where.{}", made_++), std::move(where));
    ValueId number = rank == 0 ? emit("Squeeze", "cache.scalar", {by}) : by;
    const DType dtype = from_.value(value).type.dtype;
    if (dtype != DType::kInt64)
      number = emit("Cast", "cache.cast", {number}, with("to", static_cast<int64_t>(dtype)));
    return emit("Where", "cache.length", {mask, number, value});
  }

  ValueId as_number(ValueId value) {
    const std::vector<Length> lengths = lengths_of(value);
    if (std::find(lengths.begin(), lengths.end(), Length::kOther) != lengths.end())
      refuse("'{}' is neither as long as the past nor as all tokens", from_.value(value).name);
    const ValueId past = replaced(value, Length::kPast, length_);
    if (past == value) return replaced(value, Length::kTotal, total_);
    // The new value has no probe, so a second length in it could not be replaced.
    if (std::find(lengths.begin(), lengths.end(), Length::kTotal) != lengths.end())
      refuse("'{}' holds two lengths", from_.value(value).name);
    return past;
  }

  ValueId as_extent(ValueId value) {
    for (const Length length : lengths_of(value)) {
      if (length == Length::kPast || length == Length::kOther)
        refuse("'{}' makes something as long as the past", from_.value(value).name);
    }
    return replaced(value, Length::kTotal, ints({capacity_}));
  }

  /// present = past with the new tokens at their positions.
  void append(const Node& node) {
    const size_t axis = appended_.at(node.output(0));
    const size_t rank = probes_.rank(node.output(0));
    Shape along(rank, 1);
    along[axis] = -1;
    const ValueId places = emit("Reshape", node.name + ".places", {places_, ints(along)});
    const ValueId shape = emit("Shape", node.name + ".shape", {node.input(1)});
    const ValueId indices = emit("Expand", node.name + ".indices", {places, shape});
    emit_as(node.output(0), "ScatterElements", node.name, {node.input(0), indices, node.input(1)},
            with("axis", static_cast<int64_t>(axis)));
  }

  void rewrite_range(const Node& node) {
    const ValueId result = node.output(0);
    const auto step = probes_.fixed_element(node.input(2), 0);
    const auto start = probes_.data(node.input(0));
    if (!step || *step != 1 || !start || !probes_.ranked(result)) refuse("{} counts by lengths", node.text());
    const DType dtype = from_.value(result).type.dtype;
    const auto cast = [&](ValueId value) {
      if (dtype == DType::kInt64) return value;
      return emit("Cast", node.name + ".cast", {value}, with("to", static_cast<int64_t>(dtype)));
    };
    computed_.insert(result);
    if (probes_.dim(result, 0) == Length::kTotal && probes_.fixed_element(node.input(0), 0) == 0) {
      std::vector<int64_t> all(static_cast<size_t>(capacity_));
      for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
      return emit_as(result, "Identity", node.name, {cast(ints(all))});
    }
    const bool is_new = probes_.dim(result, 0) == Length::kFixed && probes_.size(result, 0) == kNew;
    if (!is_new || start->front() != Length::kPast) refuse("{} counts by lengths", node.text());
    emit_as(result, "Identity", node.name, {cast(places_)});
  }

  /// Selects the rows at the positions of the new tokens, or all rows that the cache can hold.
  void rewrite_slice(const Node& node) {
    const auto starts = probes_.data(node.input(1));
    const auto ends = probes_.data(node.input(2));
    const auto axes = node.has_input(3) ? probes_.data(node.input(3)) : std::nullopt;
    if (!starts || !ends || !axes || starts->size() != 1)
      refuse("{} cuts by lengths along several axes", node.text());
    if (node.has_input(4) && probes_.fixed_element(node.input(4), 0) != 1)
      refuse("{} cuts in steps", node.text());
    const ValueId data = node.input(0);
    const auto rank = static_cast<int64_t>(probes_.rank(data));
    const auto given = probes_.fixed_element(node.input(3), 0);
    if (!given || !probes_.ranked(data)) refuse("{} cuts along an axis that is not known", node.text());
    const int64_t axis = *given < 0 ? *given + rank : *given;
    const auto at = static_cast<size_t>(axis);
    computed_.insert(node.output(0));
    if (starts->front() == Length::kPast && ends->front() == Length::kTotal) {
      if (probes_.dim(data, at) == Length::kPast) refuse("{} cuts the past", node.text());
      return emit_as(node.output(0), "Gather", node.name, {data, places_}, with("axis", axis));
    }
    if (probes_.fixed_element(node.input(1), 0) != 0 || ends->front() != Length::kTotal)
      refuse("{} cuts by lengths", node.text());
    if (probes_.dim(data, at) == Length::kTotal)
      return emit_as(node.output(0), "Identity", node.name, {data});
    if (probes_.dim(data, at) != Length::kFixed || probes_.size(data, at) < capacity_)
      refuse("{} cuts {} elements of fewer", node.text(), capacity_);
    emit_as(node.output(0), "Slice", node.name, {data, ints({0}), ints({capacity_}), ints({axis})});
  }

  /// Checks that values after the valid tokens cannot affect the results of a node.
  void check_padding(const Node& node) {
    const auto is_padded = [&](ValueId id) { return id != kNoValue && !probes_.total_axes(id).empty(); };
    for (const ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      if (!probes_.ranked(id)) refuse("{} makes something of unknown rank", node.text());
      for (size_t i = 0; i < probes_.rank(id); ++i) {
        const Length length = probes_.dim(id, i);
        if (length == Length::kPast || length == Length::kOther)
          refuse("{} makes something whose length depends on the past in another way", node.text());
      }
    }
    if (std::any_of(node.inputs.begin(), node.inputs.end(),
                    [&](ValueId id) { return cache_inputs_.contains(id); }) &&
        node.op != "Shape")
      refuse("{} reads the past without the new tokens", node.text());
    if (std::none_of(node.inputs.begin(), node.inputs.end(), is_padded)) return;
    if (graph::traits_of(node).elementwise) return note_zeros(node);
    if (node.op == "Transpose" || node.op == "Unsqueeze" || node.op == "Squeeze" || node.op == "Expand" ||
        node.op == "Identity" || node.op == "Shape")
      return note_zeros(node);
    if (node.op == "Reshape") return check_reshape(node);
    if (node.op == "MatMul") return check_product(node);
    if (node.op == "Softmax") return;
    if (node.op == "Concat" || node.op == "Gather" || node.op == "Slice" || node.op == "Split")
      return check_axis(node);
    refuse("{} reads all tokens", node.text());
  }

  /// A value that is 0 at missing tokens keeps this property if an operator moves elements, or maps 0 to 0.
  void note_zeros(const Node& node) {
    const auto has_zeros = [&](ValueId id) { return zeros_.contains(id); };
    const bool moved = !graph::traits_of(node).elementwise || node.op == "Cast" || node.op == "Identity";
    const bool product = node.op == "Mul" && std::any_of(node.inputs.begin(), node.inputs.end(), has_zeros);
    // This also covers the guard that exporters write: 0 instead of NaN.
    const bool guarded = node.op == "Where" && (has_zeros(node.input(1)) || is_zero(node.input(1))) &&
                         (has_zeros(node.input(2)) || is_zero(node.input(2)));
    if ((moved && has_zeros(node.input(0))) || product || guarded) zeros_.insert(node.output(0));
  }

  bool is_zero(ValueId id) const {
    const Tensor* constant = from_.constant(id);
    if (constant == nullptr || constant->size() != 1) return false;
    return constant->to_double().front() == 0;
  }

  /// Every long axis must remain one axis, with the same number of elements before it.
  void check_reshape(const Node& node) {
    const auto before = [&](ValueId id, size_t axis) {
      int64_t product = 1;
      for (size_t i = 0; i < axis; ++i) product *= probes_.size(id, i);
      return product;
    };
    const ValueId x = node.input(0);
    const ValueId y = node.output(0);
    const auto from = probes_.total_axes(x);
    const auto to = probes_.total_axes(y);
    bool kept = from.size() == to.size();
    for (size_t i = 0; kept && i < from.size(); ++i) kept = before(x, from[i]) == before(y, to[i]);
    if (!kept) refuse("{} mixes tokens with something else", node.text());
    note_zeros(node);
  }

  /// Sums over all tokens need 0 at the missing ones.
  void check_product(const Node& node) const {
    const size_t rank = probes_.rank(node.input(0));
    if (rank < 2 || probes_.rank(node.input(1)) < 2) refuse("{} sums over all tokens", node.text());
    if (probes_.dim(node.input(0), rank - 1) != Length::kTotal) return;
    if (!zeros_.contains(node.input(0)) && !zeros_.contains(node.input(1)))
      refuse("{} sums over all tokens", node.text());
  }

  /// The axis of the operator must not be a long axis.
  void check_axis(const Node& node) const {
    if (node.op == "Slice") {
      for (size_t i = 0; i < probes_.rank(node.output(0)); ++i) {
        if (probes_.dim(node.input(0), i) != probes_.dim(node.output(0), i))
          refuse("{} cuts tokens", node.text());
      }
      // Along a long axis, its result would depend on the valid length: all elements, or a count from the
      // end.
      const auto axes = node.has_input(3) ? probes_.data(node.input(3)) : std::nullopt;
      if (!axes) refuse("{} cuts along an axis that is not known", node.text());
      for (size_t i = 0; i < axes->size(); ++i) {
        const auto axis = probes_.fixed_element(node.input(3), i);
        const auto rank = static_cast<int64_t>(probes_.rank(node.input(0)));
        if (!axis || probes_.dim(node.input(0), static_cast<size_t>(*axis < 0 ? *axis + rank : *axis)) ==
                         Length::kTotal)
          refuse("{} cuts tokens", node.text());
      }
      return;
    }
    const int64_t axis = node.attributes.get_int("axis");
    const auto rank = static_cast<int64_t>(probes_.rank(node.input(0)));
    if (probes_.dim(node.input(0), static_cast<size_t>(axis < 0 ? axis + rank : axis)) == Length::kTotal ||
        (node.op == "Gather" && !probes_.total_axes(node.input(1)).empty()))
      refuse("{} chooses among tokens", node.text());
  }

  /// Adds minus infinity to the scores of missing tokens.
  void mask(Node& softmax) {
    const ValueId scores = softmax.input(0);
    const size_t rank = probes_.rank(scores);
    const int64_t axis = softmax.attributes.get_int("axis");
    const auto at = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
    if (probes_.dim(scores, at) != Length::kTotal) return;
    ValueId bias = tail();
    if (at + 1 < rank) {
      std::vector<int64_t> shape(rank - at, 1);
      shape[0] = capacity_;
      bias = emit("Reshape", softmax.name + ".tail", {bias, ints(shape)});
    }
    const DType dtype = from_.value(scores).type.dtype;
    if (dtype != DType::kFloat32)
      bias = emit("Cast", softmax.name + ".tail", {bias}, with("to", static_cast<int64_t>(dtype)));
    softmax.inputs[0] = emit("Add", softmax.name + ".present", {scores, bias});
    zeros_.insert(softmax.output(0));
  }

  /// A float32 [capacity] value, made once: 0 for valid tokens, minus infinity for the others.
  ValueId tail() {
    if (tail_ != kNoValue) return tail_;
    std::vector<int64_t> all(static_cast<size_t>(capacity_));
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
    const ValueId there = emit("Less", "cache.there", {ints(all), total_});
    const ValueId zero = graph_.add_constant("cache.nothing", Tensor::scalar(0.0F));
    const ValueId never =
        graph_.add_constant("cache.never", Tensor::scalar(-std::numeric_limits<float>::infinity()));
    tail_ = emit("Where", "cache.tail", {there, zero, never});
    return tail_;
  }

  void check_outputs() const {
    for (size_t i = 0; i < from_.outputs.size(); ++i) {
      const ValueId id = from_.outputs[i];
      if (appended_.contains(id)) continue;
      if (is_length(id) || !probes_.total_axes(id).empty())
        refuse("output '{}' depends on the length of the caches", from_.value(id).name);
    }
  }

  const Graph& from_;
  Graph graph_;
  int64_t capacity_;
  std::string past_;
  Probes probes_;
  std::vector<CacheEnds> ends_;
  std::map<ValueId, size_t> cache_inputs_;
  std::map<ValueId, size_t> appended_;
  /// Values that are 0 at missing tokens.
  std::set<ValueId> zeros_;
  /// Values that are correct although they depend on lengths.
  std::set<ValueId> computed_;
  ValueId length_ = kNoValue;
  ValueId new_ = kNoValue;
  ValueId total_ = kNoValue;
  ValueId counted_ = kNoValue;
  ValueId places_ = kNoValue;
  ValueId tail_ = kNoValue;
  int64_t made_ = 0;
};

}  // namespace

Refusal fix_caches(Graph& graph, std::span<const CacheEnds> caches, int64_t capacity) {
  if (caches.empty()) return "nothing is bound";
  if (capacity < kPasts[1] + kNew) return fmt::format("a capacity of {} is too small", capacity);
  try {
    graph = CacheFixer(graph, caches, capacity).run();
    return {};
  } catch (const Refused& refused) {
    return refused.reason;
  }
}

void store_caches_as(Graph& graph, std::span<const CacheEnds> caches, tensor::DType dtype) {
  const auto cast = [&](const std::string& name, ValueId from, ValueId to) {
    const auto type = static_cast<int64_t>(graph.value(to).type.dtype);
    Node node{name, "Cast", with("to", type), {from}, {to}, {name}};
    graph::complete_node(node);
    return node;
  };
  std::vector<Node> reads;
  for (const CacheEnds& ends : caches) {
    const ValueId input = graph.inputs[ends.input];
    const graph::TensorType type = graph.value(input).type;
    const ValueId wide = graph.add_value(graph.value(input).name + ".read", type);
    for (Node& node : graph.nodes) std::replace(node.inputs.begin(), node.inputs.end(), input, wide);
    graph.value(input).type.dtype = dtype;
    reads.push_back(cast(graph.value(wide).name, input, wide));
    const ValueId made = graph.outputs[ends.output];
    const std::string name = graph.value(made).name;
    graph.value(made).name = name + ".made";
    const ValueId output = graph.add_value(name, graph.value(made).type);
    graph.value(output).type.dtype = dtype;
    graph.add_node(cast(name, made, output));
    graph.outputs[ends.output] = output;
  }
  graph.nodes.insert(graph.nodes.begin(), reads.begin(), reads.end());
  graph::verify(graph, "choosing a type for caches");
}

}  // namespace hone::transform
