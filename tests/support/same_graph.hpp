// Compares two graphs by structure: everything but the numbers of their values and what no node, input or
// output mentions.
#pragma once

#include <cstring>
#include <map>
#include <string>

#include "graph/graph.hpp"

namespace hone::test {

class GraphComparison {
 public:
  GraphComparison(const graph::Graph& a, const graph::Graph& b) : a_(a), b_(b) {}

  /// The first difference; empty when there is none.
  std::string difference() {
    if (a_.name != b_.name) return "names of the graphs";
    if (!same_values(a_.inputs, b_.inputs)) return "inputs: " + reason_;
    if (a_.nodes.size() != b_.nodes.size()) return "numbers of nodes";
    for (size_t i = 0; i < a_.nodes.size(); ++i) {
      if (!same_nodes(a_.nodes[i], b_.nodes[i])) return a_.nodes[i].text() + ": " + reason_;
    }
    return same_values(a_.outputs, b_.outputs) ? "" : "outputs: " + reason_;
  }

 private:
  bool differs(const std::string& reason) {
    reason_ = reason;
    return false;
  }

  static bool same_types(const graph::TensorType& a, const graph::TensorType& b) {
    return a.text() == b.text();
  }

  static bool same_tensors(const tensor::Tensor& a, const tensor::Tensor& b) {
    return a.dtype() == b.dtype() && a.shape() == b.shape() &&
           (a.size() == 0 || std::memcmp(a.bytes(), b.bytes(), a.byte_size()) == 0);
  }

  bool same_values(const std::vector<graph::ValueId>& a, const std::vector<graph::ValueId>& b) {
    if (a.size() != b.size()) return differs("numbers of values");
    for (size_t i = 0; i < a.size(); ++i) {
      if ((a[i] == graph::kNoValue) != (b[i] == graph::kNoValue)) return differs("one value is absent");
      if (a[i] != graph::kNoValue && !same_value(a[i], b[i])) return false;
    }
    return true;
  }

  bool same_value(graph::ValueId a, graph::ValueId b) {
    const auto [known, inserted] = partner_.emplace(a, b);
    if (!inserted) return known->second == b || differs("'" + a_.value(a).name + "' and another value");
    const graph::Value& left = a_.value(a);
    const graph::Value& right = b_.value(b);
    if (left.name != right.name) return differs("'" + left.name + "' is called '" + right.name + "'");
    if (!same_types(left.type, right.type))
      return differs("'" + left.name + "' is " + left.type.text() + " and " + right.type.text());
    if (left.constant.has_value() != right.constant.has_value())
      return differs("only one '" + left.name + "' is constant");
    if (left.constant && !same_tensors(*left.constant, *right.constant))
      return differs("elements of '" + left.name + "'");
    return true;
  }

  bool same_nodes(const graph::Node& a, const graph::Node& b) {
    if (a.name != b.name || a.op != b.op || a.sources != b.sources)
      return differs("name, operator or sources");
    if (!same_values(a.inputs, b.inputs) || !same_values(a.outputs, b.outputs)) return false;
    if (a.attributes.size() != b.attributes.size()) return differs("numbers of attributes");
    for (const auto& [name, value] : a.attributes) {
      const graph::Attribute* other = b.attributes.find(name);
      if (other == nullptr || !same_attribute(value, *other)) return differs("attribute '" + name + "'");
    }
    return true;
  }

  static bool same_attribute(const graph::Attribute& a, const graph::Attribute& b) {
    if (a.index() != b.index()) return false;
    return std::visit(
        [&]<class T>(const T& left) {
          const T& right = std::get<T>(b);
          if constexpr (std::is_same_v<T, tensor::Tensor>) {
            return same_tensors(left, right);
          } else if constexpr (std::is_same_v<T, std::shared_ptr<graph::Graph>>) {
            return GraphComparison(*left, *right).difference().empty();
          } else {
            return left == right;
          }
        },
        a);
  }

  const graph::Graph& a_;
  const graph::Graph& b_;
  std::map<graph::ValueId, graph::ValueId> partner_;
  std::string reason_;
};

inline std::string graph_difference(const graph::Graph& a, const graph::Graph& b) {
  return GraphComparison(a, b).difference();
}

}  // namespace hone::test
