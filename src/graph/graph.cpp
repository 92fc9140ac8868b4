// See graph.hpp.
#include "graph/graph.hpp"

#include <algorithm>
#include <set>

namespace hone::graph {

std::string TensorType::text() const {
  return fmt::format("{}[{}]", tensor::dtype_name(dtype), dims ? dims_text(*dims) : "any rank");
}

std::string Node::text() const { return fmt::format("node '{}' ({})", name, op); }

ValueId Graph::add_value(std::string value_name, TensorType type) {
  values.push_back({std::move(value_name), std::move(type), {}, {}});
  return static_cast<ValueId>(values.size() - 1);
}

ValueId Graph::add_constant(std::string value_name, Tensor tensor) {
  TensorType type{tensor.dtype(), Dims(tensor.shape().begin(), tensor.shape().end())};
  values.push_back({std::move(value_name), std::move(type), std::move(tensor), {}});
  return static_cast<ValueId>(values.size() - 1);
}

Node& Graph::add_node(Node node) { return nodes.emplace_back(std::move(node)); }

const Tensor* Graph::constant(ValueId id) const {
  if (id == kNoValue) return nullptr;
  const auto& tensor = value(id).constant;
  return tensor && tensor->bytes() != nullptr ? &*tensor : nullptr;
}

void Graph::replace_uses(ValueId from, ValueId to) {
  for (Node& node : nodes) {
    for (ValueId& input : node.inputs) {
      if (input == from) input = to;
    }
  }
  for (ValueId& output : outputs) {
    if (output == from) output = to;
  }
}

void Graph::remove_nodes(const std::vector<bool>& dead) {
  std::vector<Node> kept;
  kept.reserve(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!dead[i]) kept.push_back(std::move(nodes[i]));
  }
  nodes = std::move(kept);
}

void Graph::sort_topologically() {
  const Links links(*this);
  std::vector<int32_t> missing(nodes.size(), 0);
  std::vector<std::vector<int32_t>> readers(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const ValueId input : nodes[i].inputs) {
      const int32_t producer = links.producer_of(input);
      if (producer < 0) continue;
      ++missing[i];
      readers[static_cast<size_t>(producer)].push_back(static_cast<int32_t>(i));
    }
  }
  // Kahn's algorithm; taking the lowest ready index first keeps the sort stable.
  std::vector<int32_t> ready;
  const auto later = [](int32_t a, int32_t b) { return a > b; };
  const auto push = [&](int32_t i) {
    ready.push_back(i);
    std::push_heap(ready.begin(), ready.end(), later);
  };
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (missing[i] == 0) push(static_cast<int32_t>(i));
  }
  std::vector<Node> sorted;
  sorted.reserve(nodes.size());
  std::vector<bool> done(nodes.size(), false);
  while (!ready.empty()) {
    std::pop_heap(ready.begin(), ready.end(), later);
    const auto i = static_cast<size_t>(ready.back());
    ready.pop_back();
    done[i] = true;
    sorted.push_back(nodes[i]);
    for (const int32_t reader : readers[i]) {
      if (--missing[static_cast<size_t>(reader)] == 0) push(reader);
    }
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!done[i]) fail_bad_input("{} is part of a cycle", nodes[i].text());
  }
  nodes = std::move(sorted);
}

Links::Links(const Graph& graph)
    : producer(graph.values.size(), -1),
      consumers(graph.values.size()),
      is_output(graph.values.size(), false) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const ValueId output : graph.nodes[i].outputs) {
      if (output != kNoValue) producer[static_cast<size_t>(output)] = static_cast<int32_t>(i);
    }
    for (const ValueId input : graph.nodes[i].inputs) {
      if (input != kNoValue) consumers[static_cast<size_t>(input)].push_back(static_cast<int32_t>(i));
    }
  }
  for (const ValueId output : graph.outputs) is_output[static_cast<size_t>(output)] = true;
}

int32_t Links::single_consumer(ValueId id) const {
  const auto& readers = consumers[static_cast<size_t>(id)];
  return readers.size() == 1 && !is_output[static_cast<size_t>(id)] ? readers[0] : -1;
}

std::vector<std::vector<int32_t>> node_predecessors(const Graph& graph) {
  const Links links(graph);
  std::vector<std::vector<int32_t>> result;
  result.reserve(graph.nodes.size());
  for (const Node& node : graph.nodes) {
    std::set<int32_t> producers;
    for (const ValueId input : node.inputs) {
      if (links.producer_of(input) >= 0) producers.insert(links.producer_of(input));
    }
    result.emplace_back(producers.begin(), producers.end());
  }
  return result;
}

}  // namespace hone::graph
