// See order.hpp.
#include "import/onnx/order.hpp"

#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "base/error.hpp"
#include "import/onnx/limits.hpp"

namespace hone::importer {
namespace {

using NameSet = std::unordered_set<std::string>;

void add_reads(const onnx::NodeProto& node, NameSet& reads, int depth);

/// Names that a subgraph reads and does not define. Depth is bounded, so recursion is safe.
void add_free_names(const onnx::GraphProto& graph, NameSet& reads, int depth) {
  if (depth > kMaxGraphDepth) fail_bad_input("graphs are nested more than {} deep", kMaxGraphDepth);
  NameSet inner;
  for (const auto& node : graph.node()) add_reads(node, inner, depth);
  for (const auto& output : graph.output()) inner.insert(output.name());
  for (const auto& node : graph.node()) {
    for (const auto& name : node.output()) inner.erase(name);
  }
  for (const auto& input : graph.input()) inner.erase(input.name());
  for (const auto& tensor : graph.initializer()) inner.erase(tensor.name());
  for (const auto& sparse : graph.sparse_initializer()) inner.erase(sparse.values().name());
  reads.merge(inner);
}

void add_reads(const onnx::NodeProto& node, NameSet& reads, int depth) {
  for (const auto& name : node.input()) reads.insert(name);
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) add_free_names(attribute.g(), reads, depth + 1);
  }
}

}  // namespace

std::string node_text(const onnx::NodeProto& node) {
  std::string name = node.name();
  if (name.empty() && node.output_size() > 0) name = node.output(0);
  return fmt::format("node '{}' ({})", name.substr(0, 200), node.op_type().substr(0, 200));
}

std::vector<int> order_nodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
  const auto count = static_cast<size_t>(nodes.size());
  std::unordered_map<std::string, int> producer;
  for (int i = 0; i < nodes.size(); ++i) {
    for (const auto& name : nodes[i].output()) producer.emplace(name, i);
  }
  producer.erase("");
  std::vector<int> missing(count, 0);
  std::vector<std::vector<int>> readers(count);
  for (int i = 0; i < nodes.size(); ++i) {
    NameSet reads;
    add_reads(nodes[i], reads, 0);
    for (const auto& name : reads) {
      const auto found = producer.find(name);
      if (found == producer.end()) continue;
      ++missing[static_cast<size_t>(i)];
      readers[static_cast<size_t>(found->second)].push_back(i);
    }
  }
  // Kahn's algorithm; taking the lowest ready index first keeps the sort stable.
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < nodes.size(); ++i) {
    if (missing[static_cast<size_t>(i)] == 0) ready.push(i);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (const int reader : readers[static_cast<size_t>(order.back())]) {
      if (--missing[static_cast<size_t>(reader)] == 0) ready.push(reader);
    }
  }
  for (int i = 0; i < nodes.size(); ++i) {
    if (missing[static_cast<size_t>(i)] > 0) fail_bad_input("{} is part of a cycle", node_text(nodes[i]));
  }
  return order;
}

}  // namespace hone::importer
