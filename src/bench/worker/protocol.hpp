// The worker protocol, version 1: one JSON object per line; requests go to the worker's standard input,
// answers come from its standard output. docs/BENCHMARK.md describes it for authors of workers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "base/json.hpp"
#include "base/progress.hpp"
#include "bench/setup.hpp"
#include "tensor/tensor.hpp"

namespace hone::bench {

inline constexpr int kProtocolVersion = 1;

/// One input of the model: `offsets.size()` different sets of values in one file of raw little-endian data.
struct InputFile {
  std::string name;
  tensor::DType dtype = tensor::DType::kFloat32;
  tensor::Shape shape;
  std::string file;
  std::vector<uint64_t> offsets;
};

/// One output in a file of raw little-endian data.
struct OutputFile {
  std::string name;
  tensor::DType dtype = tensor::DType::kFloat32;
  tensor::Shape shape;
  std::string file;
};

struct LoadRequest {
  Setup setup;
  std::string onnx;  ///< the model as an ONNX file; empty if only built-in backends take part
  std::vector<InputFile> inputs;
  /// For a decoder: the outputs that become caches of the next run, and the number of tokens that the new
  /// ones see.
  std::vector<std::string> bind;
  int64_t context = 0;
  /// In the form of backend::LoadOptions.
  std::vector<std::map<std::string, tensor::Shape>> profiles = {};
  std::map<std::string, std::string> settings = {};
};

/// Latencies of consecutive synchronous runs, and the time from the start of the first to the end of the
/// last.
struct Block {
  std::vector<double> latencies_ms;
  double wall_ms = 0;
};

/// Names of optional measurements besides latencies, which a worker lists in its answer to 'load'.
inline constexpr const char* kPhasesFeature = "phases";
inline constexpr const char* kPipelineFeature = "pipeline";
inline constexpr const char* kColdL2Feature = "cold_l2";
inline constexpr const char* kTraceFeature = "trace";
inline constexpr const char* kLayersFeature = "layers";
/// With `record_device`, `trace` also reports the GPU's work.
inline constexpr const char* kDeviceTimesFeature = "device_times";

/// The parts of consecutive runs, one entry per run; a part that does not exist or is unknown is all zeros.
struct PhaseBlock {
  std::vector<double> h2d_ms;
  std::vector<double> enqueue_ms;
  std::vector<double> device_ms;
  std::vector<double> d2h_ms;
};

/// Overlapping runs, timed from the start of the first to the end of the last.
struct PipelineBlock {
  int64_t runs = 0;
  double wall_ms = 0;
};

/// A progress message, which a worker may send any number of times before its answer to `load`.
inline constexpr const char* kProgress = "progress";

Json to_json(const base::Progress& progress);
Json to_json(const LoadRequest& request);
Json to_json(const OutputFile& output);
Json to_json(const Block& block);
Json to_json(const PhaseBlock& block);
Json to_json(const PipelineBlock& block);
Json to_json(const backend::MemoryUse& use);
Json to_json(const backend::Rival& rival);
Json to_json(const backend::LayerProfile& profile);

/// Bad input names the field if one is missing or has another type.
base::Progress parse_progress(const Json& json);
LoadRequest parse_load_request(const Json& json);
OutputFile parse_output_file(const Json& json);
Block parse_block(const Json& json);
PhaseBlock parse_phase_block(const Json& json);
PipelineBlock parse_pipeline_block(const Json& json);
backend::MemoryUse parse_memory_use(const Json& json);
backend::Rival parse_rival(const Json& json);
backend::LayerProfile parse_layer_profile(const Json& json);

/// The line for a message. Bad input for text that is not UTF-8 (such as some paths), because JSON cannot
/// hold it.
std::string line_of(const Json& message);

/// Bad input for an unknown name.
tensor::DType parse_dtype(const std::string& name);

/// Returns the member `name` as T. Bad input names it if it is missing or has another type.
template <class T>
T member(const Json& json, const char* name) {
  const auto found = json.is_object() ? json.find(name) : json.end();
  if (!json.is_object() || found == json.end()) fail_bad_input("the field '{}' is missing", name);
  try {
    return found->get<T>();
  } catch (const Json::exception&) {
    fail_bad_input("the field '{}' has the wrong type", name);
  }
}

/// Reads a member that may be missing.
template <class T>
T member_or(const Json& json, const char* name, T otherwise) {
  return json.is_object() && json.contains(name) ? member<T>(json, name) : otherwise;
}

}  // namespace hone::bench
