// See wiring.hpp.
#include "backend/partition/wiring.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/fnv.hpp"
#include "graph/operator.hpp"
#include "graph/text/printer.hpp"
#include "transform/pass.hpp"

namespace hone::backend::partition {
namespace {

double bytes_of(const graph::TensorType& type) {
  double elements = 1;
  if (type.ranked()) {
    for (const graph::Dim& dim : *type.dims) elements *= dim.known() ? static_cast<double>(dim.value()) : 1;
  }
  return elements * static_cast<double>(tensor::dtype_size(type.dtype));
}

void drop_repeated(std::vector<int32_t>& nodes) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
}

}  // namespace

Wiring::Wiring(const graph::Graph& typed) : predecessors(graph::node_predecessors(typed)) {
  const graph::Links links(typed);
  for (const graph::Node& node : typed.nodes) counted.push_back(!graph::changes_shape_only(node));
  for (size_t id = 0; id < typed.values.size(); ++id) {
    const auto value = static_cast<graph::ValueId>(id);
    const bool used = !links.consumers[id].empty() || links.is_output[id];
    if (!used || typed.value(value).constant) continue;
    Flow& flow = flows.emplace_back(Flow{value, links.producer[id], links.consumers[id], links.is_output[id],
                                         bytes_of(typed.value(value).type)});
    drop_repeated(flow.consumers);
  }
}

int64_t Wiring::count(std::span<const int32_t> nodes) const {
  return std::count_if(nodes.begin(), nodes.end(),
                       [this](int32_t node) { return counted[static_cast<size_t>(node)]; });
}

std::shared_ptr<const graph::Graph> prepare(const std::shared_ptr<const graph::Graph>& graph,
                                            const std::string& model) {
  if (graph == nullptr)
    fail_bad_input(
        "{} is a TorchScript archive, whose nodes only libtorch reads: it runs whole or not at all", model);
  auto prepared = std::make_shared<graph::Graph>(*graph);
  transform::PassOptions options;
  for (const std::string& name : transform::pass_names()) {
    if (name != "constant_folding" && name != "dead_code") options.disabled.push_back(name);
  }
  transform::optimize(*prepared, options);
  if (prepared->nodes.empty())
    fail_bad_input("{} has no nodes to share out: its outputs are inputs or constants", model);
  return prepared;
}

std::string fingerprint(const graph::Graph& prepared) {
  base::Fnv1a hash;
  hash.add_characters(
      graph::print_graph(prepared, {.elements = {.checksum = false}, .unused_constants = false}));
  return hash.text();
}

}  // namespace hone::backend::partition
