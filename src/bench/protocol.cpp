// See protocol.hpp.
#include "bench/protocol.hpp"

namespace hone::bench {
namespace {

Json to_json(const InputFile& input) {
  return {{"name", input.name},
          {"dtype", tensor::dtype_name(input.dtype)},
          {"shape", input.shape},
          {"file", input.file},
          {"offsets", input.offsets}};
}

InputFile parse_input_file(const Json& json) {
  InputFile input;
  input.name = member<std::string>(json, "name");
  input.dtype = parse_dtype(member<std::string>(json, "dtype"));
  input.shape = member<tensor::Shape>(json, "shape");
  input.file = member<std::string>(json, "file");
  input.offsets = member<std::vector<uint64_t>>(json, "offsets");
  if (input.offsets.empty()) fail_bad_input("the field 'offsets' of input '{}' is empty", input.name);
  return input;
}

}  // namespace

tensor::DType parse_dtype(const std::string& name) {
  for (int value = 1; value <= static_cast<int>(tensor::DType::kBFloat16); ++value) {
    const auto dtype = static_cast<tensor::DType>(value);
    if (tensor::is_supported(dtype) && tensor::dtype_name(dtype) == name) return dtype;
  }
  fail_bad_input("unknown element type '{}'", name);
}

Json to_json(const LoadRequest& request) {
  Json inputs = Json::array();
  for (const InputFile& input : request.inputs) inputs.push_back(to_json(input));
  return {{"backend", request.backend},
          {"model", request.model},
          {"onnx", request.onnx.empty() ? Json(nullptr) : Json(request.onnx)},
          {"precision", request.precision},
          {"threads", request.threads},
          {"device", request.device},
          {"includes_transfers", request.transfers},
          {"inputs", std::move(inputs)}};
}

LoadRequest parse_load_request(const Json& json) {
  LoadRequest request;
  request.backend = member<std::string>(json, "backend");
  request.model = member<std::string>(json, "model");
  const Json onnx = member<Json>(json, "onnx");
  if (!onnx.is_null()) request.onnx = member<std::string>(json, "onnx");
  request.precision = member<std::string>(json, "precision");
  request.threads = member<int>(json, "threads");
  request.device = member<std::string>(json, "device");
  request.transfers = member<bool>(json, "includes_transfers");
  for (const Json& input : member<Json>(json, "inputs")) request.inputs.push_back(parse_input_file(input));
  return request;
}

Json to_json(const OutputFile& output) {
  return {{"name", output.name},
          {"dtype", tensor::dtype_name(output.dtype)},
          {"shape", output.shape},
          {"file", output.file}};
}

OutputFile parse_output_file(const Json& json) {
  OutputFile output;
  output.name = member<std::string>(json, "name");
  output.dtype = parse_dtype(member<std::string>(json, "dtype"));
  output.shape = member<tensor::Shape>(json, "shape");
  output.file = member<std::string>(json, "file");
  return output;
}

Json to_json(const Block& block) {
  return {{"latencies_ms", block.latencies_ms}, {"wall_ms", block.wall_ms}};
}

Block parse_block(const Json& json) {
  Block block;
  block.latencies_ms = member<std::vector<double>>(json, "latencies_ms");
  block.wall_ms = member<double>(json, "wall_ms");
  if (block.latencies_ms.empty()) fail_bad_input("the field 'latencies_ms' is empty");
  for (const double latency : block.latencies_ms) {
    if (!(latency > 0)) fail_bad_input("the field 'latencies_ms' holds {}", latency);
  }
  return block;
}

}  // namespace hone::bench
