// See case_file.hpp.
#include "import/onnx/case_file.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/file.hpp"
#include "import/onnx/opsets.hpp"
#include "import/onnx/proto.hpp"
#include "import/onnx/tensor_proto.hpp"

namespace hone::importer {
namespace {

std::string element_feature(int32_t element) {
  constexpr int kFloat8First = 17;
  if (element == onnx::TensorProto::STRING) return "string type";
  if (element == onnx::TensorProto::COMPLEX64 || element == onnx::TensorProto::COMPLEX128)
    return "complex type";
  return element >= kFloat8First ? "float8 type" : "";
}

std::string type_feature(const onnx::TypeProto& type) {
  if (type.has_optional_type()) return "optional type";
  if (type.has_sequence_type()) return "sequence type";
  return type.has_tensor_type() ? element_feature(type.tensor_type().elem_type()) : "";
}

bool is_random(std::string_view op) {
  constexpr std::array<std::string_view, 6> kRandom = {
      "Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"};
  return std::find(kRandom.begin(), kRandom.end(), op) != kRandom.end();
}

std::string operator_feature(const onnx::NodeProto& node) {
  const std::string& op = node.op_type();
  if (node.domain() == "ai.onnx.preview.training" || node.domain() == "ai.onnx.training") {
    return "training operator";
  }
  if (!normal_domain(node.domain()).empty()) return "";
  if (is_random(op)) return "random operator";
  if (op == "StringNormalizer") return "string type";
  if (op.starts_with("Optional")) return "optional type";
  // A third input enables training, which is random.
  if (op == "Dropout" && node.input_size() > 2 && !node.input(2).empty()) return "training operator";
  return "";
}

std::string graph_feature(const onnx::GraphProto& graph) {
  const auto first_of = [](const auto& infos) -> std::string {
    for (const auto& info : infos) {
      if (auto feature = type_feature(info.type()); !feature.empty()) return feature;
    }
    return "";
  };
  for (const auto* infos : {&graph.input(), &graph.output(), &graph.value_info()}) {
    if (auto feature = first_of(*infos); !feature.empty()) return feature;
  }
  for (const auto& node : graph.node()) {
    if (auto feature = operator_feature(node); !feature.empty()) return feature;
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) {
        if (auto feature = graph_feature(attribute.g()); !feature.empty()) return feature;
      }
    }
  }
  return "";
}

}  // namespace

NamedTensor read_tensor_file(const std::filesystem::path& file) {
  const base::MappedFile content(file);
  try {
    ExternalFolder folder{{}};
    const onnx::TensorProto proto = parse_tensor(content.bytes());
    return {proto.name(), read_tensor(proto, folder)};
  } catch (const Error& error) {
    throw error.within(file.string());
  }
}

std::string unsupported_feature(const std::filesystem::path& model_file) {
  const base::MappedFile content(model_file);
  return graph_feature(parse_model(content.bytes()).graph());
}

}  // namespace hone::importer
