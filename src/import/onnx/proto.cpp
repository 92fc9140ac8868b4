// See proto.hpp.
#include "import/onnx/proto.hpp"

#include <google/protobuf/io/coded_stream.h>

#include "base/error.hpp"
#include "import/onnx/limits.hpp"
#include "import/onnx/wire_scan.hpp"

namespace hone::importer {
namespace {

template <class Message>
Message parse(std::span<const std::byte> bytes, const char* what) {
  if (bytes.size() > kMaxFileBytes) {
    fail_bad_input(
        "{} bytes are more than protobuf's limit of {}; larger models keep weights in external data",
        bytes.size(), kMaxFileBytes);
  }
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  stream.SetRecursionLimit(kMaxMessageDepth);
  Message message;
  if (!message.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    fail_bad_input("this is not {}, or it is cut off: protobuf cannot parse it", what);
  }
  return message;
}

}  // namespace

onnx::ModelProto parse_model(std::span<const std::byte> bytes) {
  if (bytes.empty()) fail_bad_input("the file is empty");
  scan_model(bytes);
  auto model = parse<onnx::ModelProto>(bytes, "an ONNX model");
  if (!model.has_graph()) fail_bad_input("this is not an ONNX model: it has no graph");
  return model;
}

onnx::TensorProto parse_tensor(std::span<const std::byte> bytes) {
  return parse<onnx::TensorProto>(bytes, "an ONNX tensor");
}

}  // namespace hone::importer
