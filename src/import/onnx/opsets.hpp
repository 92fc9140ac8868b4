// Which operator sets a file may use, and facts about functions that depend on the file's version.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "import/onnx/proto.hpp"

namespace hone::importer {

using OpsetImports = google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>;

/// "ai.onnx" is another name of the default domain "".
std::string normal_domain(const std::string& domain);

/// Version of the default domain; 0 when it is not imported. Bad input above kMaxOpset: whoever asks for it
/// means the whole model or function, whatever its nodes are.
int default_opset(const OpsetImports& imports);

/// Bad input when the operator cannot be imported in this opset: below kMinOpset, unless it already had its
/// opset 7 form.
void check_opset(std::string_view op, int opset);

/// Default values of a function's attributes. They came with IR version 9, which the protobuf classes of
/// older packages hold as unknown fields.
std::vector<onnx::AttributeProto> function_defaults(const onnx::FunctionProto& function);

}  // namespace hone::importer
