// See protocol.hpp.
#include "bench/worker/protocol.hpp"

#include <numeric>

#include "base/read_described.hpp"
#include "bench/setup_schema.hpp"

namespace hone::bench {
namespace {

/// Of the sum of its latencies, what a block must have taken at least: clocks differ a little.
constexpr double kLeastWallShare = 0.5;

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

std::string line_of(const Json& message) {
  try {
    return message.dump();
  } catch (const Json::type_error&) {
    fail_bad_input("a name or path that is not UTF-8 cannot be told to a worker");
  }
}

Json to_json(const LoadRequest& request) {
  Json inputs = Json::array();
  for (const InputFile& input : request.inputs) inputs.push_back(to_json(input));
  Json json = base::described_json(request.setup);
  json["onnx"] = request.onnx.empty() ? Json(nullptr) : Json(request.onnx);
  json["inputs"] = std::move(inputs);
  return json;
}

LoadRequest parse_load_request(const Json& json) {
  LoadRequest request;
  request.setup = base::read_described<Setup>(json);
  const Json onnx = member<Json>(json, "onnx");
  if (!onnx.is_null()) request.onnx = member<std::string>(json, "onnx");
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
  // They follow each other, so that a time which does not add up would let a benchmark never end.
  const double sum = std::accumulate(block.latencies_ms.begin(), block.latencies_ms.end(), 0.0);
  if (!(block.wall_ms >= kLeastWallShare * sum)) {
    fail_bad_input("the field 'wall_ms' holds {}, the latencies add up to {}", block.wall_ms, sum);
  }
  return block;
}

namespace {

std::vector<double> parse_times(const Json& json, const char* name) {
  auto times = member<std::vector<double>>(json, name);
  for (const double time : times) {
    if (!(time >= 0)) fail_bad_input("the field '{}' holds {}", name, time);
  }
  return times;
}

}  // namespace

Json to_json(const PhaseBlock& block) {
  return {{"h2d_ms", block.h2d_ms},
          {"enqueue_ms", block.enqueue_ms},
          {"device_ms", block.device_ms},
          {"d2h_ms", block.d2h_ms}};
}

PhaseBlock parse_phase_block(const Json& json) {
  return {parse_times(json, "h2d_ms"), parse_times(json, "enqueue_ms"), parse_times(json, "device_ms"),
          parse_times(json, "d2h_ms")};
}

Json to_json(const PipelineBlock& block) { return {{"runs", block.runs}, {"wall_ms", block.wall_ms}}; }

PipelineBlock parse_pipeline_block(const Json& json) {
  const PipelineBlock block{member<int64_t>(json, "runs"), member<double>(json, "wall_ms")};
  if (block.runs < 1) fail_bad_input("the field 'runs' holds {}", block.runs);
  if (!(block.wall_ms > 0)) fail_bad_input("the field 'wall_ms' holds {}", block.wall_ms);
  return block;
}

Json to_json(const backend::MemoryUse& use) {
  return {{"weights", use.weights},
          {"activations", use.activations},
          {"engine_file", use.engine_file},
          {"device",
           {{"planned", use.device.planned},
            {"allocated", use.device.allocated},
            {"peak_allocated", use.device.peak_allocated},
            {"driver", use.device.driver}}}};
}

backend::MemoryUse parse_memory_use(const Json& json) {
  backend::MemoryUse use{.weights = member<int64_t>(json, "weights"),
                         .activations = member<int64_t>(json, "activations")};
  use.engine_file = member_or<int64_t>(json, "engine_file", 0);
  const Json device = member_or(json, "device", Json::object());
  use.device = {member_or<int64_t>(device, "planned", 0), member_or<int64_t>(device, "allocated", 0),
                member_or<int64_t>(device, "peak_allocated", 0), member_or<int64_t>(device, "driver", 0)};
  return use;
}

Json to_json(const backend::Rival& rival) {
  return {{"tactic", rival.tactic},
          {"layout", rival.layout},
          {"time_us", rival.time_us},
          {"chosen", rival.chosen},
          {"refusal", rival.refusal}};
}

backend::Rival parse_rival(const Json& json) {
  backend::Rival rival{.tactic = member<std::string>(json, "tactic"),
                       .layout = member_or(json, "layout", std::string()),
                       .time_us = member_or(json, "time_us", 0.0),
                       .chosen = member_or(json, "chosen", false),
                       .refusal = member_or(json, "refusal", std::string())};
  if (!(rival.time_us >= 0)) fail_bad_input("the field 'time_us' holds {}", rival.time_us);
  return rival;
}

}  // namespace hone::bench
