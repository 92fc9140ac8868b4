// Options that `hone detect` and `hone classify` share: the model, what runs it, and how its input is filled.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "system/cpu.hpp"
#include "task/network.hpp"

namespace hone::cli {

struct VisionOptions {
  task::NetworkOptions network{.threads = system::usable_cores()};
  std::string size;
  std::string labels;
  std::optional<float> scale;
  std::string mean;
  std::string std;

  std::vector<float> mean_values() const;
  std::vector<float> std_values() const;
};

/// `input`: gets the positional INPUT, or --input.
void add_vision_options(CLI::App& command, VisionOptions& options, std::string& input);

/// Reads --size into the network's options; usage error for what is no size.
void complete(VisionOptions& options);

}  // namespace hone::cli
