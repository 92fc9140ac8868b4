// See opsets.hpp.
#include "import/onnx/opsets.hpp"

#include "base/error.hpp"
#include "import/onnx/adapt.hpp"
#include "import/onnx/limits.hpp"

namespace hone::importer {

std::string normal_domain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

int default_opset(const OpsetImports& imports) {
  int64_t version = 0;
  for (const auto& opset : imports) {
    if (normal_domain(opset.domain()).empty()) version = std::max(version, opset.version());
  }
  if (version < 0 || version > 1'000'000)
    fail_bad_input("field opset_import: version {} is out of range", version);
  if (version > kMaxOpset) {
    fail_bad_input("opset {} is not supported, only {} to {} are; export the model in one of these", version,
                   kMinOpset, kMaxOpset);
  }
  return static_cast<int>(version);
}

void check_opset(std::string_view op, int opset) {
  if (opset == 0) fail_bad_input("the file imports no version of the default operator set");
  if (opset < kMinOpset && !is_readable_below_7(op, opset)) {
    fail_bad_input("opset {} is not supported, only {} to {} are", opset, kMinOpset, kMaxOpset);
  }
}

std::vector<onnx::AttributeProto> function_defaults(const onnx::FunctionProto& function) {
  constexpr int kAttributeProtoField = 11;
  std::vector<onnx::AttributeProto> result;
  const auto& fields = function.GetReflection()->GetUnknownFields(function);
  for (int i = 0; i < fields.field_count(); ++i) {
    const auto& field = fields.field(i);
    if (field.number() != kAttributeProtoField) continue;
    if (field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED ||
        !result.emplace_back().ParseFromString(field.length_delimited())) {
      fail_bad_input("function '{}': field attribute_proto cannot be parsed", function.name().substr(0, 200));
    }
  }
  return result;
}

}  // namespace hone::importer
