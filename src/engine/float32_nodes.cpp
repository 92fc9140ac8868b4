// See float32_nodes.hpp.
#include "engine/float32_nodes.hpp"

#include <algorithm>
#include <set>

#include "graph/operator.hpp"
#include "graph/region.hpp"
#include "tensor/saturate.hpp"

namespace hone::engine {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;

/// Products of rows up to this length count as cheap.
constexpr int64_t kShortRow = 64;

bool is_floating(const Graph& graph, ValueId id) {
  return id != kNoValue && tensor::is_floating(graph.value(id).type.dtype);
}

/// True if a small error of an input can become a large error of the result.
bool magnifies(const Graph& graph, const Node& node) {
  if (std::none_of(node.inputs.begin(), node.inputs.end(),
                   [&](ValueId id) { return is_floating(graph, id); }))
    return false;
  const graph::Traits& traits = graph::traits_of(node);
  if (traits.discontinuous || traits.periodic) return true;
  const bool quantizes = traits.quantization && traits.product == graph::Product::kNone;
  return (traits.elementwise || traits.converts || quantizes) && !is_floating(graph, node.output(0));
}

/// True if this input of the node is a position in another input, whatever the result is used for.
bool is_place(const Node& node, size_t input) {
  const size_t first = graph::traits_of(node).first_place_input;
  return first > 0 && input >= first;
}

bool multiplies_long_rows(const Graph& graph, const Node& node) {
  const graph::Traits& traits = graph::traits_of(node);
  if (traits.product != graph::Product::kMatrices || traits.quantization) return traits.sums_products;
  const auto& dims = graph.value(node.inputs[0]).type.dims;
  if (!dims || dims->empty()) return true;
  const bool transposed = node.attributes.has("transA") && node.attributes.get_int("transA") != 0;
  const graph::Dim& row = transposed ? dims->front() : dims->back();
  return !row.known() || row.value() > kShortRow;
}

/// True if float32 results of the node can be useful for its readers. If the model itself rounds the factors
/// of a product to few bits, the product keeps that precision too.
bool passes_on(const Graph& graph, const graph::Links& links, const Node& node) {
  if (graph::has_body(node)) return false;
  if (!multiplies_long_rows(graph, node)) return true;
  const int32_t producer = links.producer_of(node.input(0));
  return producer >= 0 && graph.nodes[static_cast<size_t>(producer)].op == "DequantizeLinear";
}

/// True if the node represents operations on quantized numbers, whose precision is that of their scales.
bool is_quantized_region(const Node& node) { return graph::kind_of(node).starts_with("quantized_"); }

/// How values are read: as an angle or a position, as an input of quantization, and in other ways.
struct Reads {
  std::vector<bool> exact;
  std::vector<bool> plain;

  bool only_exact(ValueId id) const {
    return exact[static_cast<size_t>(id)] && !plain[static_cast<size_t>(id)];
  }
};

/// True if the node rounds numbers of this storage type only to bytes, for which they are as good as float32.
bool makes_bytes_of(const Graph& graph, const Node& node, tensor::DType storage) {
  if (storage != tensor::DType::kFloat16) return false;
  return is_quantized_region(node) ||
         (node.op == "QuantizeLinear" && tensor::dtype_size(graph.value(node.outputs[0]).type.dtype) == 1);
}

std::vector<bool> mark_nodes(const Graph& graph, Reads& reads, tensor::DType storage) {
  std::vector<bool> result(graph.nodes.size(), false);
  const graph::Links links(graph);
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    const auto any_of = [&](const std::vector<bool>& values) {
      return std::any_of(node.outputs.begin(), node.outputs.end(),
                         [&](ValueId id) { return id != kNoValue && values[static_cast<size_t>(id)]; });
    };
    const bool makes_bytes = makes_bytes_of(graph, node, storage);
    result[i] = !makes_bytes && (is_quantized_region(node) || (any_of(reads.exact) && !any_of(reads.plain) &&
                                                               passes_on(graph, links, node)));
    const bool all_exact = result[i] || (!makes_bytes && magnifies(graph, node));
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      if (node.inputs[k] == kNoValue) continue;
      auto& of_kind = all_exact || is_place(node, k) ? reads.exact : reads.plain;
      of_kind[static_cast<size_t>(node.inputs[k])] = true;
    }
  }
  return result;
}

}  // namespace

std::vector<bool> float32_nodes(const Graph& graph, tensor::DType storage) {
  const std::vector<bool> none(graph.values.size(), false);
  Reads reads{none, none};
  std::vector<bool> result = mark_nodes(graph, reads, storage);
  const bool takes_exact = std::any_of(graph.inputs.begin(), graph.inputs.end(), [&](ValueId id) {
    return is_floating(graph, id) && reads.only_exact(id);
  });
  if (!takes_exact) return result;
  // A loop may pass its results back to these inputs.
  reads = {none, none};
  for (const ValueId id : graph.outputs) reads.exact[static_cast<size_t>(id)] = true;
  return mark_nodes(graph, reads, storage);
}

int64_t count_saturated_constants(const Graph& graph, tensor::DType storage) {
  const std::vector<bool> float32 = float32_nodes(graph, storage);
  std::set<ValueId> seen;
  int64_t count = 0;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const ValueId id : graph.nodes[i].inputs) {
      if (float32[i] || id == kNoValue || !graph.value(id).constant || !seen.insert(id).second) continue;
      count += tensor::count_saturated(*graph.value(id).constant, storage);
    }
  }
  return count;
}

}  // namespace hone::engine
