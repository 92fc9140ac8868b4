// The protobuf classes of ONNX files, and reading one message from bytes. Expensive to include: only the
// files that walk the messages do.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <span>

namespace hone::importer {

/// Parses one message; bad input when the bytes are no such message or pass a limit.
onnx::ModelProto parse_model(std::span<const std::byte> bytes);
onnx::TensorProto parse_tensor(std::span<const std::byte> bytes);

}  // namespace hone::importer
