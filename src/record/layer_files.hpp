// Reads the layers of another system's engine, in the file
// formats of TensorRT's tools, as one side of a comparison.
#pragma once

#include <filesystem>

#include "analysis/questions/trace_diff.hpp"

namespace hone::record {

/// True if the folder contains trt_layer_latency.json and trt_engine_info.json.
bool holds_layer_files(const std::filesystem::path& folder);

/// Reads such a folder. If hone_layers.json, written by `hone inspect --layer-files`, exists, it adds what
/// the other two lack: the model, the spread of the times, the time of the engine without a profiler, and the
/// model's nodes in hone. Bad input names the file and the error.
analysis::DiffSide read_layer_files(const std::filesystem::path& folder);

}  // namespace hone::record
