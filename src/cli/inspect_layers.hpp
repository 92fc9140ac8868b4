// The part of `hone inspect` that shows the layers of another system's engine.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/engine_options.hpp"

namespace hone::cli {

struct LayerOptions {
  std::string backend;  ///< empty: show hone's own engines
  std::string files;    ///< folder for trt_layer_latency.json and trt_engine_info.json; empty: none
  int64_t batch = 1;
  int runs = 30;
  bool trust = false;
  std::vector<std::string> shapes;
  std::map<std::string, std::string> settings;
  /// All of these options except the one of the backend's name.
  OptionList given;
};

void add_layer_options(CLI::App& command, LayerOptions& options);

/// Returns whether the model or the options ask for the layers of another system.
bool shows_layers(const LayerOptions& options, const std::string& model);

/// Prints the layers with their times as text or JSON, and writes the files. The other system runs only in a
/// worker process.
void inspect_layers(const LayerOptions& options, const std::string& model, const std::string& precision,
                    const std::string& device, bool json);

}  // namespace hone::cli
