// See carried_state.hpp.
#include "engine/carried_state.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.hpp"

namespace hone::engine {
namespace {

using graph::Dim;
using graph::Graph;
using graph::TensorType;
using graph::ValueId;
using tensor::Tensor;

/// Returns the text for each * of a pattern, matching as few characters as possible from the left; nothing if
/// the text does not match.
std::optional<std::vector<std::string>> match(std::string_view pattern, std::string_view text) {
  size_t star = pattern.find('*');
  const std::string_view begin = pattern.substr(0, star);
  if (!text.starts_with(begin)) return std::nullopt;
  text.remove_prefix(begin.size());
  std::vector<std::string> parts;
  while (star != std::string_view::npos) {
    const size_t next = pattern.find('*', star + 1);
    const std::string_view literal = pattern.substr(star + 1, next - star - 1);
    const bool last = next == std::string_view::npos;
    if (last && !text.ends_with(literal)) return std::nullopt;
    const size_t at = last ? text.size() - literal.size() : text.find(literal);
    if (at == std::string_view::npos) return std::nullopt;
    parts.emplace_back(text.substr(0, at));
    text.remove_prefix(at + literal.size());
    star = next;
  }
  if (!text.empty()) return std::nullopt;
  return parts;
}

std::string fill(std::string_view pattern, const std::vector<std::string>& parts) {
  std::string text;
  size_t next = 0;
  for (const char c : pattern) {
    if (c == '*') {
      text += parts[next++];
    } else {
      text += c;
    }
  }
  return text;
}

std::vector<std::string> names_of(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<std::string> names;
  for (const ValueId id : ids) names.push_back(graph.value(id).name);
  return names;
}

/// True if a value can have both types.
bool fit(const TensorType& a, const TensorType& b) {
  if (a.dtype != b.dtype) return false;
  if (!a.ranked() || !b.ranked()) return true;
  return std::equal(a.dims->begin(), a.dims->end(), b.dims->begin(), b.dims->end(),
                    [](const Dim& x, const Dim& y) { return !x.known() || !y.known() || x.same_as(y); });
}

class CarryParser {
 public:
  explicit CarryParser(const Graph& graph)
      : graph_(graph), inputs_(names_of(graph, graph.inputs)), outputs_(names_of(graph, graph.outputs)) {}

  void add(const std::string& text) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      fail_usage("binding {}: it is written INPUT=OUTPUT, as past_key_values.*=present.*", text);
    const std::string left = text.substr(0, equals);
    const std::string right = text.substr(equals + 1);
    if (std::count(left.begin(), left.end(), '*') != std::count(right.begin(), right.end(), '*'))
      fail_usage("binding {}: both sides need the same number of *", text);
    bool found = false;
    for (size_t input = 0; input < inputs_.size(); ++input) {
      const auto parts = match(left, inputs_[input]);
      if (!parts) continue;
      found = true;
      add_pair(text, input, fill(right, *parts));
    }
    if (!found)
      fail_usage("binding {}: the model has no input '{}'; its inputs are {}", text, left,
                 fmt::join(inputs_, ", "));
  }

  std::vector<Carry> take() { return std::move(carries_); }

 private:
  void add_pair(const std::string& text, size_t input, const std::string& name) {
    const auto found = std::find(outputs_.begin(), outputs_.end(), name);
    if (found == outputs_.end())
      fail_usage("binding {}: the model has no output '{}' for the input '{}'; its outputs are {}", text,
                 name, inputs_[input], fmt::join(outputs_, ", "));
    const auto output = static_cast<size_t>(found - outputs_.begin());
    for (const Carry& carry : carries_) {
      if (carry.input == input) fail_usage("binding {}: input '{}' is bound already", text, inputs_[input]);
      if (carry.output == output) fail_usage("binding {}: output '{}' is bound already", text, name);
    }
    const TensorType& taken = graph_.value(graph_.inputs[input]).type;
    const TensorType& given = graph_.value(graph_.outputs[output]).type;
    if (!fit(taken, given))
      fail_usage("binding {}: output '{}' of type {} can never be input '{}' of type {}", text, name,
                 given.text(), inputs_[input], taken.text());
    carries_.push_back({input, output});
  }

  const Graph& graph_;
  std::vector<std::string> inputs_;
  std::vector<std::string> outputs_;
  std::vector<Carry> carries_;
};

}  // namespace

std::vector<Carry> parse_carries(const Graph& graph, std::span<const std::string> texts) {
  CarryParser parser(graph);
  for (const std::string& text : texts) parser.add(text);
  return parser.take();
}

CarriedRuns::CarriedRuns(const Graph& graph, std::vector<Carry> carries)
    : graph_(graph),
      carries_(std::move(carries)),
      states_(carries_.size()),
      state_of_input_(graph.inputs.size(), kNone),
      state_of_output_(graph.outputs.size(), kNone) {
  for (size_t i = 0; i < carries_.size(); ++i) {
    state_of_input_[carries_[i].input] = i;
    state_of_output_[carries_[i].output] = i;
  }
}

void CarriedRuns::set(size_t input, Tensor value) { states_[state_of_input_[input]] = std::move(value); }

void CarriedRuns::reset() { std::fill(states_.begin(), states_.end(), Tensor()); }

std::vector<Tensor> CarriedRuns::next_inputs(std::span<const Tensor> inputs) {
  std::vector<Tensor> all(inputs.begin(), inputs.end());
  for (const Carry& carry : carries_) all[carry.input] = Tensor();
  std::vector<Tensor> complete = all;
  for (const Carry& carry : carries_) {
    const Tensor& state = states_[state_of_input_[carry.input]];
    complete[carry.input] = state.defined() ? state : empty_state(carry.input, all);
  }
  return complete;
}

std::vector<Tensor> CarriedRuns::run(std::span<const Tensor> inputs, const Run& run) {
  std::vector<Tensor> outputs = run(next_inputs(inputs));
  for (size_t i = 0; i < carries_.size(); ++i) states_[i] = std::exchange(outputs[carries_[i].output], {});
  return outputs;
}

Tensor CarriedRuns::empty_state(size_t input, std::span<const Tensor> inputs) const {
  const graph::Value& value = graph_.value(graph_.inputs[input]);
  if (!value.type.ranked())
    fail_bad_input("input '{}' has no known rank: give it a value for the first run", value.name);
  const auto size_of = [&](const Dim& dim) -> int64_t {
    if (dim.known()) return dim.value();
    for (size_t i = 0; i < inputs.size(); ++i) {
      const TensorType& type = graph_.value(graph_.inputs[i]).type;
      if (!inputs[i].defined() || !type.ranked() || type.dims->size() != inputs[i].shape().size()) continue;
      for (size_t d = 0; d < type.dims->size(); ++d) {
        if ((*type.dims)[d].same_as(dim)) return inputs[i].shape()[d];
      }
    }
    return 0;
  };
  tensor::Shape shape;
  for (const Dim& dim : *value.type.dims) shape.push_back(size_of(dim));
  Tensor state(value.type.dtype, std::move(shape));
  if (state.size() > 0) std::memset(state.mutable_bytes(), 0, state.byte_size());
  return state;
}

}  // namespace hone::engine
