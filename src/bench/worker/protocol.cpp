// See protocol.hpp.
#include "bench/worker/protocol.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "base/read_described.hpp"
#include "bench/setup_schema.hpp"
#include "bench/worker/protocol_schema.hpp"

namespace hone::bench {
namespace {

/// The time of a block must be at least this share of the sum of its latencies; clocks differ slightly.
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

void check_times(const char* name, const std::vector<double>& times) {
  for (const double time : times) {
    if (!(time >= 0)) fail_bad_input("the field {} holds {}", name, time);
  }
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

Json to_json(const base::Progress& progress) {
  // JSON cannot represent infinity.
  const Json left = std::isfinite(progress.left_seconds) ? Json(progress.left_seconds) : Json(nullptr);
  return {{"type", kProgress},
          {"done_seconds", progress.done_seconds},
          {"left_seconds", left},
          {"doing", progress.doing}};
}

base::Progress parse_progress(const Json& json) {
  const Json left = member_or(json, "left_seconds", Json(nullptr));
  return {member<double>(json, "done_seconds"),
          left.is_number() ? left.get<double>() : std::numeric_limits<double>::infinity(),
          member<std::string>(json, "doing")};
}

Json to_json(const LoadRequest& request) {
  Json inputs = Json::array();
  for (const InputFile& input : request.inputs) inputs.push_back(to_json(input));
  Json json = base::described_json(request.setup);
  json["onnx"] = request.onnx.empty() ? Json(nullptr) : Json(request.onnx);
  json["inputs"] = std::move(inputs);
  if (request.context > 0) json["decoding"] = {{"bind", request.bind}, {"context", request.context}};
  if (!request.profiles.empty()) json["profiles"] = request.profiles;
  if (!request.settings.empty()) json["settings"] = request.settings;
  return json;
}

LoadRequest parse_load_request(const Json& json) {
  LoadRequest request;
  request.setup = base::read_described<Setup>(json);
  const Json onnx = member<Json>(json, "onnx");
  if (!onnx.is_null()) request.onnx = member<std::string>(json, "onnx");
  for (const Json& input : member<Json>(json, "inputs")) request.inputs.push_back(parse_input_file(input));
  if (json.contains("decoding")) {
    const Json decoding = member<Json>(json, "decoding");
    request.bind = member<std::vector<std::string>>(decoding, "bind");
    request.context = member<int64_t>(decoding, "context");
  }
  request.profiles = member_or(json, "profiles", request.profiles);
  request.settings = member_or(json, "settings", request.settings);
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

Json to_json(const Block& block) { return base::described_json(block); }

Block parse_block(const Json& json) {
  auto block = base::read_described<Block>(json);
  if (block.latencies_ms.empty()) fail_bad_input("the field latencies_ms is empty");
  for (const double latency : block.latencies_ms) {
    if (!(latency > 0)) fail_bad_input("the field latencies_ms holds {}", latency);
  }
  // The runs are consecutive, so their latencies must add up to the time of the block; otherwise a faulty
  // worker could keep the benchmark from ending.
  const double sum = std::accumulate(block.latencies_ms.begin(), block.latencies_ms.end(), 0.0);
  if (!(block.wall_ms >= kLeastWallShare * sum)) {
    fail_bad_input("the field wall_ms holds {}, the latencies add up to {}", block.wall_ms, sum);
  }
  return block;
}

Json to_json(const PhaseBlock& block) { return base::described_json(block); }

PhaseBlock parse_phase_block(const Json& json) {
  auto block = base::read_described<PhaseBlock>(json);
  check_times("h2d_ms", block.h2d_ms);
  check_times("enqueue_ms", block.enqueue_ms);
  check_times("device_ms", block.device_ms);
  check_times("d2h_ms", block.d2h_ms);
  return block;
}

Json to_json(const PipelineBlock& block) { return base::described_json(block); }

PipelineBlock parse_pipeline_block(const Json& json) {
  const auto block = base::read_described<PipelineBlock>(json);
  if (!(block.wall_ms > 0)) fail_bad_input("the field wall_ms holds {}", block.wall_ms);
  return block;
}

Json to_json(const backend::MemoryUse& use) { return base::described_json(use); }
backend::MemoryUse parse_memory_use(const Json& json) {
  return base::read_described<backend::MemoryUse>(json);
}

Json to_json(const backend::Rival& rival) { return base::described_json(rival); }
backend::Rival parse_rival(const Json& json) { return base::read_described<backend::Rival>(json); }

Json to_json(const backend::LayerProfile& profile) {
  Json layers = Json::array();
  for (const backend::LayerTime& layer : profile.layers)
    layers.push_back({{"name", layer.name}, {"times_ms", layer.times_ms}, {"nodes", layer.nodes}});
  return {
      {"layers", std::move(layers)}, {"engine_ms", profile.engine_ms}, {"description", profile.description}};
}

backend::LayerProfile parse_layer_profile(const Json& json) {
  backend::LayerProfile profile;
  for (const Json& layer : member<std::vector<Json>>(json, "layers")) {
    profile.layers.push_back({member<std::string>(layer, "name"),
                              member<std::vector<double>>(layer, "times_ms"),
                              member<std::vector<std::string>>(layer, "nodes")});
    check_times("times_ms", profile.layers.back().times_ms);
    if (profile.layers.back().times_ms.size() != profile.layers.front().times_ms.size())
      fail_bad_input("layer '{}' was timed in {} runs, the first one in {}", profile.layers.back().name,
                     profile.layers.back().times_ms.size(), profile.layers.front().times_ms.size());
  }
  profile.engine_ms = member<std::vector<double>>(json, "engine_ms");
  check_times("engine_ms", profile.engine_ms);
  profile.description = member<std::string>(json, "description");
  return profile;
}

}  // namespace hone::bench
