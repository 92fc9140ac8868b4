// Models for tests, written as ONNX text (the syntax of onnx/defs/parser.h).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "tensor/tensor.hpp"

namespace onnx {
class ModelProto;
}

namespace hone::importer {

/// Changes a model before it is written, for what the text cannot say.
using Tweak = std::function<void(onnx::ModelProto&)>;

/// The bytes of a model with this graph (and functions) in this opset.
std::string model_bytes(int opset, std::string_view text, const Tweak& tweak = {});
graph::Graph import_text(int opset, std::string_view text, const Tweak& tweak = {});

/// The sentence with which the importer refuses the bytes; a test failure when it does not, or when the error
/// is not bad input.
std::string refusal(const std::string& bytes, const std::string& folder = {});

/// Outputs of the reference implementation.
std::vector<tensor::Tensor> run_text(int opset, std::string_view text,
                                     const std::vector<tensor::Tensor>& inputs);

}  // namespace hone::importer
