// See float_graph.hpp.
#include "quantize/float_graph.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/fnv.hpp"
#include "graph/operator.hpp"
#include "transform/pass.hpp"

namespace hone::quantize {
namespace {

/// Passes whose results consist of ONNX operators and keep the names of values.
constexpr std::array kPasses = {"constant_folding", "branch_selection",   "half_widening", "identity_removal",
                                "pad_folding",      "batch_norm_folding", "dead_code"};

class Fingerprint : private base::Fnv1a {
 public:
  using Fnv1a::text;
  void add_text(std::string_view text) {
    add_number(text.size());
    add_characters(text);
  }
  void add_tensor(const graph::Tensor& tensor) {
    add_number(static_cast<uint64_t>(tensor.dtype()));
    for (const int64_t dim : tensor.shape()) add_number(static_cast<uint64_t>(dim));
    add_bytes(tensor.bytes(), tensor.byte_size());
  }
  void add_graph(const graph::Graph& graph);

 private:
  void add_attribute(const graph::Attribute& attribute) {
    std::visit(
        [this](const auto& value) {
          using T = std::decay_t<decltype(value)>;
          if constexpr (std::is_arithmetic_v<T>) {
            add_bytes(&value, sizeof(value));
          } else if constexpr (std::is_same_v<T, std::string>) {
            add_text(value);
          } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
            for (const std::string& text : value) add_text(text);
          } else if constexpr (std::is_same_v<T, graph::Tensor>) {
            add_tensor(value);
          } else if constexpr (std::is_same_v<T, std::shared_ptr<graph::Graph>>) {
            add_graph(*value);
          } else {
            add_bytes(value.data(), value.size() * sizeof(value[0]));
          }
        },
        attribute);
  }
};

void Fingerprint::add_graph(const graph::Graph& graph) {
  const auto add_names = [&](const std::vector<graph::ValueId>& ids) {
    add_number(ids.size());
    for (const graph::ValueId id : ids) {
      if (id == graph::kNoValue) {
        add_text("");
        continue;
      }
      const graph::Value& value = graph.value(id);
      if (value.constant) {
        add_tensor(*value.constant);
      } else {
        add_text(value.name);
      }
    }
  };
  add_names(graph.inputs);
  for (const graph::Node& node : graph.nodes) {
    add_text(node.op);
    add_names(node.inputs);
    add_names(node.outputs);
    for (const auto& [name, attribute] : node.attributes) {
      add_text(name);
      add_attribute(attribute);
    }
  }
  add_names(graph.outputs);
}

}  // namespace

graph::Graph float_graph(const graph::Graph& model) {
  graph::Graph graph = model;
  transform::PassOptions options;
  for (const std::string& name : transform::pass_names()) {
    if (std::ranges::find(kPasses, name) == kPasses.end()) options.disabled.push_back(name);
  }
  transform::optimize(graph, options);
  return graph;
}

std::string fingerprint_of(const graph::Graph& graph) {
  Fingerprint fingerprint;
  fingerprint.add_graph(graph);
  return fingerprint.text();
}

std::string quantized_part(const graph::Graph& graph) {
  for (const graph::Node& node : graph.nodes) {
    if (graph::traits_of(node).quantization) return node.text();
  }
  return {};
}

}  // namespace hone::quantize
