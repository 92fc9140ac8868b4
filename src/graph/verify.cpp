// See verify.hpp.
#include "graph/verify.hpp"

#include "graph/operator.hpp"

namespace hone::graph {

void verify(const Graph& graph, const char* after) {
  std::vector<bool> ready(graph.values.size(), false);
  const auto fail = [&](const std::string& sentence) { fail_internal("after {}: {}", after, sentence); };
  const auto check_id = [&](ValueId id, const std::string& what) {
    if (id < 0 || static_cast<size_t>(id) >= graph.values.size()) fail(what + " has a value id out of range");
  };
  for (size_t i = 0; i < graph.values.size(); ++i) ready[i] = graph.values[i].constant.has_value();
  for (const ValueId input : graph.inputs) {
    check_id(input, "the input list");
    ready[static_cast<size_t>(input)] = true;
  }
  for (const Node& node : graph.nodes) {
    if (find_operator(node.op) == nullptr) fail(node.text() + " has an unknown operator");
    for (const ValueId input : node.inputs) {
      if (input == kNoValue) continue;
      check_id(input, node.text());
      if (!ready[static_cast<size_t>(input)]) {
        fail(fmt::format("{} reads '{}' before it is made", node.text(), graph.value(input).name));
      }
    }
    for (const ValueId output : node.outputs) {
      if (output == kNoValue) continue;
      check_id(output, node.text());
      if (ready[static_cast<size_t>(output)]) {
        fail(fmt::format("'{}' is made twice, by {}", graph.value(output).name, node.text()));
      }
      ready[static_cast<size_t>(output)] = true;
    }
  }
  for (const ValueId output : graph.outputs) {
    check_id(output, "the output list");
    if (!ready[static_cast<size_t>(output)])
      fail(fmt::format("output '{}' is never made", graph.value(output).name));
  }
}

}  // namespace hone::graph
