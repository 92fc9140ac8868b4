// Replaces an If with a known condition by the nodes of the selected branch, so that other passes and a
// device's tactics see them.
#include "graph/subgraph.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"

namespace hone::transform {

Summary branch_selection(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  const int32_t count = editor.count();
  for (int32_t i = 0; i < count; ++i) {
    const auto condition = graph::known_condition(graph, editor.node(i));
    if (!condition) continue;
    const Node node = editor.node(i);
    std::vector<Node> nodes = graph::inline_branch(graph, node, *condition, "");
    editor.remove(i);
    for (Node& inner : nodes) {
      inner.sources.insert(inner.sources.begin(), node.sources.begin(), node.sources.end());
      editor.insert_before(i, std::move(inner));
    }
    summary.change(
        fmt::format("'{}' (If) replaced by its {}", node.name, *condition ? "then_branch" : "else_branch"));
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
