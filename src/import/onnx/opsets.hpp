// The operator sets that a file may use, and properties of functions that depend on the file's version.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "import/onnx/proto.hpp"

namespace hone::importer {

using OpsetImports = google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>;

/// "ai.onnx" is another name of the default domain "".
std::string normal_domain(const std::string& domain);

/// Version of the default domain; 0 if it is not imported. Throws bad input above kMaxOpset, whatever the
/// nodes of the model or function are.
int default_opset(const OpsetImports& imports);

/// Throws bad input if the operator cannot be imported in this opset: below kMinOpset, unless it already had
/// its opset 7 form.
void check_opset(std::string_view op, int opset);

/// Default values of a function's attributes. They were added in IR version 9, so the protobuf classes of
/// older packages hold them as unknown fields.
std::vector<onnx::AttributeProto> function_defaults(const onnx::FunctionProto& function);

}  // namespace hone::importer
