// The protobuf classes of ONNX files, and a function that reads one message from bytes. It is expensive to
// compile, so only files that walk the messages include it.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <span>

namespace hone::importer {

/// Parses one message; bad input if the bytes are not a valid message or exceed a limit.
onnx::ModelProto parse_model(std::span<const std::byte> bytes);
onnx::TensorProto parse_tensor(std::span<const std::byte> bytes);

}  // namespace hone::importer
