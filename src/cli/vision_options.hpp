// Options that `hone detect` and `hone classify` share: the model, what runs it, and how its input is filled.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "task/network.hpp"

namespace hone::cli {

struct VisionOptions {
  task::NetworkOptions network;
  std::optional<int> threads;
  std::string input;
  std::string input_option;  ///< --input, which other programs' users type
  std::string size;
  std::string labels;
  std::optional<float> scale;
  std::string mean;
  std::string std;

  std::vector<float> mean_values() const;
  std::vector<float> std_values() const;
};

void add_vision_options(CLI::App& command, VisionOptions& options);

/// Reads --threads and --size into the network's options, and --input into `input`; usage error for what is
/// no size, and where there is no input or there are two.
void complete(VisionOptions& options);

}  // namespace hone::cli
