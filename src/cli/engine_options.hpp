// Options that several commands share: those of `hone build` and `hone inspect` (the model, its shapes and
// the precision), --shapes and --device.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/hone/build_request.hpp"
#include "cli/command.hpp"
#include "cli/option_checks.hpp"
#include "tensor/shape.hpp"

namespace hone::cli {

struct EngineOptions {
  backend::BuildRequest request{.open_dims = engine::OpenDims::kAsTuned};
  // Parts of the request in the form of the command line.
  std::string precision = "fp32";
  std::vector<std::string> min_shapes;
  std::vector<std::string> opt_shapes;
  std::vector<std::string> max_shapes;
  bool no_cache = false;
};

/// Adds --shapes, for commands that run a model without building an engine file.
CLI::Option* add_shapes_option(CLI::App& command, std::vector<std::string>& shapes);
/// Parses the values of --shapes and similar options; throws the usage errors of bench::parse_shapes().
std::map<std::string, tensor::Shape> parse_named_shapes(const std::vector<std::string>& items);
/// Adds --device, for every command that runs a model; an unknown name is a usage error.
CLI::Option* add_device_option(CLI::App& command, std::string& device);
/// Returns the options that it added, because none of them applies to an engine that is already built.
OptionList add_engine_options(CLI::App& command, EngineOptions& options);
/// Builds the engine and shows progress.
std::shared_ptr<engine::Engine> build_from(const EngineOptions& options);

}  // namespace hone::cli
