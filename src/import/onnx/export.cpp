// See export.hpp.
#include "import/onnx/export.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/file.hpp"
#include "graph/infer.hpp"
#include "import/onnx/limits.hpp"
#include "import/onnx/lower.hpp"
#include "import/onnx/open_batch.hpp"
#include "import/onnx/proto.hpp"

namespace hone::importer {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::Tensor;
using graph::ValueId;

/// Constants up to this size stay in the model's file, where shape inference of other tools expects them.
constexpr size_t kAlwaysInside = 1024;
/// Tensors in the file next to the model begin at multiples of this many bytes.
constexpr uint64_t kAlignment = 64;

/// The file next to a model that holds its large constants.
class ExternalFile {
 public:
  explicit ExternalFile(std::string location) : location_(std::move(location)) {}

  void add(const Tensor& tensor, onnx::TensorProto& proto) {
    static constexpr char kZeros[kAlignment] = {};
    if (const uint64_t rest = size_ % kAlignment; rest != 0) append({kZeros, kAlignment - rest});
    proto.set_data_location(onnx::TensorProto::EXTERNAL);
    note(proto, "location", location_);
    note(proto, "offset", std::to_string(size_));
    note(proto, "length", std::to_string(tensor.byte_size()));
    append({reinterpret_cast<const char*>(tensor.bytes()), tensor.byte_size()});
  }

  uint64_t size() const { return size_; }
  /// The content as parts that refer to the bytes of the added tensors.
  std::span<const std::string_view> parts() const { return parts_; }

 private:
  void append(std::string_view bytes) {
    parts_.push_back(bytes);
    size_ += bytes.size();
  }
  static void note(onnx::TensorProto& proto, const char* key, const std::string& value) {
    auto& entry = *proto.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }

  std::string location_;
  std::vector<std::string_view> parts_;
  uint64_t size_ = 0;
};

/// `external` is null if everything stays in the model's file.
void write_tensor(const Tensor& tensor, onnx::TensorProto& proto, ExternalFile* external) {
  proto.set_data_type(static_cast<int>(tensor.dtype()));
  for (const int64_t dim : tensor.shape()) proto.add_dims(dim);
  if (external != nullptr && tensor.byte_size() > kAlwaysInside) return external->add(tensor, proto);
  proto.set_raw_data(tensor.bytes(), tensor.byte_size());
}

uint64_t constant_bytes(const Graph& graph) {
  uint64_t bytes = 0;
  for (const graph::Value& value : graph.values) bytes += value.constant ? value.constant->byte_size() : 0;
  for (const Node& node : graph.nodes) {
    for (const auto& [name, attribute] : node.attributes) {
      const auto* const body = std::get_if<std::shared_ptr<Graph>>(&attribute);
      if (body != nullptr && *body != nullptr) bytes += constant_bytes(**body);
    }
  }
  return bytes;
}

void write_type(const graph::TensorType& type, onnx::TypeProto& proto) {
  auto& tensor = *proto.mutable_tensor_type();
  tensor.set_elem_type(static_cast<int>(type.dtype));
  if (!type.ranked()) return;
  auto& shape = *tensor.mutable_shape();
  for (const graph::Dim& dim : *type.dims) {
    auto& out = *shape.add_dim();
    if (dim.known()) out.set_dim_value(dim.value());
    if (!dim.symbol().empty()) out.set_dim_param(dim.symbol());
  }
}

/// Writes one graph; subgraphs get writers of their own that share the set of taken names.
class GraphWriter {
 public:
  GraphWriter(const Graph& graph, int opset, std::unordered_set<std::string>& taken, ExternalFile* external)
      : graph_(graph), opset_(opset), taken_(taken), external_(external) {}

  /// `captured` has the outer names of the last inputs, which are not inputs of the subgraph in the file.
  void write(onnx::GraphProto& proto, const std::vector<std::string>& captured) {
    proto.set_name(graph_.name.empty() ? "graph" : graph_.name);
    const size_t own = graph_.inputs.size() - captured.size();
    for (size_t i = own; i < graph_.inputs.size(); ++i) names_[graph_.inputs[i]] = captured[i - own];
    for (size_t i = 0; i < own; ++i) {
      auto& input = *proto.add_input();
      input.set_name(name(graph_.inputs[i]));
      write_type(graph_.value(graph_.inputs[i]).type, *input.mutable_type());
    }
    name_outputs();
    for (const Node& node : graph_.nodes) write_node(node, proto);
    write_outputs(proto);
    write_constants(proto);
  }

 private:
  const std::string& name(ValueId id) {
    static const std::string kAbsent;
    if (id == kNoValue) return kAbsent;
    const auto found = names_.find(id);
    if (found != names_.end()) return found->second;
    return names_[id] = free_name(graph_.value(id).name);
  }

  std::string free_name(const std::string& wanted) {
    std::string chosen = wanted.empty() ? "value" : wanted;
    for (size_t i = 1; !taken_.insert(chosen).second; ++i) chosen = fmt::format("{}.{}", wanted, i);
    return chosen;
  }

  /// Outputs keep their names, so they are named first. If an output is a constant, its copy gets the name.
  void name_outputs() {
    for (const ValueId id : graph_.outputs) {
      if (!graph_.value(id).constant) {
        name(id);
      } else if (!copies_.contains(id)) {
        copies_[id] = free_name(graph_.value(id).name);
      }
    }
  }

  void write_node(const Node& original, onnx::GraphProto& graph_proto) {
    Node node = original;
    const auto captures = static_cast<size_t>(node.attributes.get_or<int64_t>("num_captures", 0));
    std::vector<std::string> captured;
    for (size_t i = node.inputs.size() - captures; i < node.inputs.size(); ++i)
      captured.push_back(name(node.inputs[i]));
    node.inputs.resize(node.inputs.size() - captures);
    node.attributes.erase("num_captures");
    try {
      lower_node(graph_, node, opset_);
    } catch (const Error& error) {
      throw error.within(original.text());
    }
    auto& proto = *graph_proto.add_node();
    proto.set_name(node.name);
    proto.set_op_type(node.op);
    for (const ValueId id : node.inputs) proto.add_input(name(id));
    for (const ValueId id : node.outputs) proto.add_output(name(id));
    for (const auto& [key, value] : node.attributes)
      write_attribute(key, value, captured, *proto.add_attribute());
  }

  void write_attribute(const std::string& key, const graph::Attribute& value,
                       const std::vector<std::string>& captured, onnx::AttributeProto& proto) {
    using onnx::AttributeProto;
    proto.set_name(key);
    const auto write_list = [&](const auto& list, AttributeProto::AttributeType type, auto&& add) {
      proto.set_type(type);
      for (const auto& item : list) add(item);
    };
    if (const auto* number = std::get_if<int64_t>(&value)) {
      proto.set_type(AttributeProto::INT);
      proto.set_i(*number);
    } else if (const auto* real = std::get_if<float>(&value)) {
      proto.set_type(AttributeProto::FLOAT);
      proto.set_f(*real);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      proto.set_type(AttributeProto::STRING);
      proto.set_s(*text);
    } else if (const auto* ints = std::get_if<std::vector<int64_t>>(&value)) {
      write_list(*ints, AttributeProto::INTS, [&](int64_t item) { proto.add_ints(item); });
    } else if (const auto* floats = std::get_if<std::vector<float>>(&value)) {
      write_list(*floats, AttributeProto::FLOATS, [&](float item) { proto.add_floats(item); });
    } else if (const auto* strings = std::get_if<std::vector<std::string>>(&value)) {
      write_list(*strings, AttributeProto::STRINGS,
                 [&](const std::string& item) { proto.add_strings(item); });
    } else if (const auto* tensor = std::get_if<Tensor>(&value)) {
      proto.set_type(AttributeProto::TENSOR);
      write_tensor(*tensor, *proto.mutable_t(), nullptr);
    } else {
      proto.set_type(AttributeProto::GRAPH);
      GraphWriter(*std::get<std::shared_ptr<Graph>>(value), opset_, taken_, external_)
          .write(*proto.mutable_g(), captured);
    }
  }

  void write_outputs(onnx::GraphProto& proto) {
    std::unordered_set<ValueId> made;
    for (const Node& node : graph_.nodes) made.insert(node.outputs.begin(), node.outputs.end());
    for (const ValueId id : graph_.outputs) {
      auto& output = *proto.add_output();
      output.set_name(name(id));
      write_type(graph_.value(id).type, *output.mutable_type());
      if (made.insert(id).second) {
        // The output is an input, a constant or a captured value, but in a file a node must produce it.
        auto& node = *proto.add_node();
        node.set_op_type("Identity");
        node.add_input(name(id));
        const auto named = copies_.find(id);
        const std::string copy = named != copies_.end() ? named->second : free_name(name(id) + ".output");
        node.add_output(copy);
        output.set_name(copy);
      }
    }
  }

  /// Writes every constant that has a name, which means that it is used.
  void write_constants(onnx::GraphProto& proto) {
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      const auto id = static_cast<ValueId>(i);
      if (!graph_.values[i].constant || !names_.contains(id)) continue;
      auto& tensor = *proto.add_initializer();
      tensor.set_name(name(id));
      write_tensor(*graph_.values[i].constant, tensor, external_);
    }
  }

  const Graph& graph_;
  const int opset_;
  std::unordered_set<std::string>& taken_;
  ExternalFile* const external_;
  std::unordered_map<ValueId, std::string> names_;
  /// Names of the copies of constants that are outputs.
  std::unordered_map<ValueId, std::string> copies_;
};

/// The oldest IR version that allows an opset (onnx/docs/Versioning.md).
int ir_version(int opset) {
  if (opset <= 14) return 7;
  if (opset <= 18) return 8;
  return opset <= 20 ? 9 : 10;
}

}  // namespace

std::filesystem::path external_path(const std::filesystem::path& file) {
  std::filesystem::path beside = file;
  return beside += ".data";
}

int usual_opset(const Graph& graph) {
  constexpr int kUsual = 17;
  int opset = kUsual;
  while (opset < kMaxExportOpset && !can_lower(graph, opset)) ++opset;
  return opset;
}

ExportedBytes export_onnx(const std::filesystem::path& file, const Graph& graph, int opset,
                          const Metadata& metadata, std::optional<uint64_t> limit) {
  const uint64_t most = limit.value_or(kMaxFileBytes);
  if (opset < kMinExportOpset || opset > kMaxExportOpset) {
    fail_usage("opset {} cannot be written, only {} to {} can", opset, kMinExportOpset, kMaxExportOpset);
  }
  onnx::ModelProto model;
  model.set_ir_version(ir_version(opset));
  model.set_producer_name("hone");
  model.set_producer_version(HONE_VERSION);
  auto& opset_import = *model.add_opset_import();
  opset_import.set_domain("");
  opset_import.set_version(opset);
  for (const auto& [key, value] : metadata) {
    auto& entry = *model.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }
  ExternalFile external(external_path(file).filename().string());
  // A sixteenth is reserved for the nodes.
  const bool splits = constant_bytes(graph) > most - most / 16;
  std::unordered_set<std::string> taken;
  GraphWriter(graph, opset, taken, splits ? &external : nullptr).write(*model.mutable_graph(), {});
  if (model.ByteSizeLong() > most) {
    fail_bad_input("the model needs {} bytes without its weights, more than protobuf's limit of {}",
                   model.ByteSizeLong(), most);
  }
  if (splits) base::write_file_atomic(external_path(file), external.parts());
  const std::string bytes = model.SerializeAsString();
  base::write_file_atomic(file, bytes);
  return {bytes.size(), external.size()};
}

Graph with_batch(const Graph& given, std::optional<int64_t> batch) {
  const bool fixed = std::any_of(given.inputs.begin(), given.inputs.end(), [&](ValueId id) {
    const graph::TensorType& type = given.value(id).type;
    if (!type.ranked() || type.dims->empty() || !type.dims->front().known()) return false;
    return !batch || !type.dims->front().is(*batch);
  });
  Graph result = fixed ? open_batch(given) : given;
  for (const ValueId id : result.inputs) {
    graph::Value& value = result.value(id);
    if (!value.type.ranked() || value.type.dims->empty()) continue;
    value.type.dims->front() = batch ? graph::Dim(*batch) : graph::Dim::symbol("batch");
  }
  return graph::with_input_shapes(result, {});
}

}  // namespace hone::importer
