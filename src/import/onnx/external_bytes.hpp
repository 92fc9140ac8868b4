// The bytes of a tensor that is stored outside its ONNX file.
#pragma once

#include "import/onnx/external_data.hpp"
#include "import/onnx/proto.hpp"

namespace hone::importer {

/// Reads the proto's external data, `wanted` bytes for a tensor of this type; bad input for another length.
ExternalBytes external_bytes(const onnx::TensorProto& proto, uint64_t wanted, const std::string& type,
                             ExternalFolder& folder);

}  // namespace hone::importer
