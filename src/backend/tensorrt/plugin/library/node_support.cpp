// See node_support.hpp.
#include "backend/tensorrt/plugin/library/node_support.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "backend/tensorrt/plugin/library/source.hpp"
#include "base/error.hpp"
#include "graph/infer.hpp"
#include "system/scratch.hpp"

namespace hone::backend::tensorrt {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;

std::string one_line(const char* text) {
  std::string line = text == nullptr ? "it did not say why" : text;
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < ' '; }, ' ');
  return line;
}

class Questions {
 public:
  Questions(Library& library, Graph graph)
      : library_(library), graph_(std::move(graph)), refusals_(graph_.nodes.size()) {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) graph_.nodes[i].sources = {std::to_string(i)};
  }

  std::vector<Refusal> run() {
    while (!ask()) continue;
    return std::move(refusals_);
  }

 private:
  /// The graph without refused nodes: their results become
  /// inputs, and values that only they read become outputs.
  Graph rest() const {
    Graph rest = graph_;
    std::erase_if(rest.nodes, [&](const Node& node) { return bool(refusals_[std::stoul(node.sources[0])]); });
    std::set<ValueId> made(rest.inputs.begin(), rest.inputs.end());
    std::set<ValueId> read;
    for (const Node& node : rest.nodes) made.insert(node.outputs.begin(), node.outputs.end());
    for (const Node& node : rest.nodes) {
      for (const ValueId id : node.inputs) {
        read.insert(id);
        if (id == kNoValue || rest.value(id).constant || !made.insert(id).second) continue;
        rest.inputs.push_back(id);
      }
    }
    std::erase_if(rest.inputs, [&](ValueId id) { return !read.contains(id); });
    rest.outputs.clear();
    for (const Node& node : rest.nodes) {
      for (const ValueId id : node.outputs) {
        const auto& all = graph_.outputs;
        const bool is_result = std::find(all.begin(), all.end(), id) != all.end();
        if (id != kNoValue && (is_result || !read.contains(id))) rest.outputs.push_back(id);
      }
    }
    return rest;
  }

  /// True if the parser accepts all nodes that it has not refused before.
  bool ask() {
    const Graph part = rest();
    if (part.nodes.empty()) return true;
    const system::Scratch scratch;
    const auto file = scratch.folder() / "part.onnx";
    Graph written;
    try {
      written = write_for_parser(file, part);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kBadInput || !refuse_named(part, error)) throw;
      return false;
    }
    const auto builder = library_.make_builder();
    const std::unique_ptr<nvinfer1::INetworkDefinition> network(
        builder->createNetworkV2(network_flags(/*strong=*/false)));
    if (network == nullptr)
      fail_environment("TensorRT makes no network: {}", library_.logger().take_errors());
    const auto parser = library_.make_parser(*network);
    if (refuse_unknown(written, *parser)) return false;
    const auto errors_only = static_cast<int>(nvinfer1::ILogger::Severity::kERROR);
    if (parser->parseFromFile(file.c_str(), errors_only)) return true;
    refuse_told(written, *parser);
    return false;
  }

  void refuse(const Node& node, const std::string& reason) {
    refusals_[std::stoul(node.sources.at(0))] = Refusal(reason);
  }

  bool refuse_named(const Graph& part, const Error& error) {
    for (const Node& node : part.nodes) {
      if (error.where().find(node.text()) == std::string::npos &&
          std::string_view(error.what()).find(node.text()) == std::string_view::npos)
        continue;
      refuse(node, error.sentence());
      return true;
    }
    return false;
  }

  bool refuse_unknown(const Graph& written, const nvonnxparser::IParser& parser) {
    bool any = false;
    for (const Node& node : written.nodes) {
      if (parser.supportsOperator(node.op.c_str())) continue;
      refuse(node, fmt::format("TensorRT {} has no {}", library_.version(), node.op));
      any = true;
    }
    return any;
  }

  void refuse_told(const Graph& written, const nvonnxparser::IParser& parser) {
    bool any = false;
    for (int i = 0; i < parser.getNbErrors(); ++i) {
      const nvonnxparser::IParserError& error = *parser.getError(i);
      if (error.node() < 0 || static_cast<size_t>(error.node()) >= written.nodes.size()) continue;
      refuse(written.nodes[static_cast<size_t>(error.node())], one_line(error.desc()));
      any = true;
    }
    const std::string said = library_.logger().take_errors();
    if (!any) fail_bad_input("TensorRT {} does not take the model: {}", library_.version(), said);
  }

  Library& library_;
  Graph graph_;
  std::vector<Refusal> refusals_;
};

}  // namespace

std::vector<Refusal> refused_nodes(Library& library, const Graph& graph, const LoadOptions& options) {
  return Questions(library, graph::with_input_shapes(graph, options.input_shapes)).run();
}

}  // namespace hone::backend::tensorrt
