// Layers of another system's engine, saved as the tools around TensorRT save them, as one side of a
// comparison.
#pragma once

#include <filesystem>

#include "analysis/questions/trace_diff.hpp"

namespace hone::record {

/// True if it is a folder with trt_layer_latency.json and trt_engine_info.json.
bool holds_layer_files(const std::filesystem::path& folder);

/// Reads such a folder; hone_layers.json, which `hone inspect --layer-files` writes into it, adds what the
/// two lack: the model, the spread of the times, the time of the engine without a profiler, and the model's
/// nodes as hone knows them. Bad input naming the file and what is wrong with it.
analysis::DiffSide read_layer_files(const std::filesystem::path& folder);

}  // namespace hone::record
