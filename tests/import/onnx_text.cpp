// See onnx_text.hpp.
#include "import/onnx_text.hpp"

#include <gtest/gtest.h>
#include <onnx/defs/parser.h>

#include "import/onnx/import.hpp"
#include "reference/interpreter.hpp"

namespace hone::importer {

std::string model_bytes(int opset, std::string_view text, const Tweak& tweak) {
  const std::string whole = "<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) +
                            ", \"local\" : 1]>\n" + std::string(text);
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser::Parse(model, whole.c_str());
  if (!status.IsOK()) fail_internal("the test's model does not parse: {}", status.ErrorMessage());
  if (tweak) tweak(model);
  return model.SerializeAsString();
}

graph::Graph import_text(int opset, std::string_view text, const Tweak& tweak) {
  const std::string bytes = model_bytes(opset, text, tweak);
  return import_onnx(std::as_bytes(std::span(bytes)));
}

std::string refusal(const std::string& bytes, const std::string& folder) {
  try {
    import_onnx(std::as_bytes(std::span(bytes)), folder);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "the model was accepted";
  return "";
}

std::vector<tensor::Tensor> run_text(int opset, std::string_view text,
                                     const std::vector<tensor::Tensor>& inputs) {
  return reference::run_graph(import_text(opset, text), inputs);
}

}  // namespace hone::importer
