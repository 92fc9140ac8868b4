// Options that `hone detect` and `hone classify` share: the model, the backend that runs it, and the
// preprocessing and reading of its input.
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
  std::string input_option;  ///< --input, which users of other programs type
  std::string size;
  std::string labels;
  std::optional<float> scale;
  std::string mean;
  std::string std;
  double timeout_seconds = 10;
  std::optional<int64_t> most_frames;
  bool strict = false;

  std::vector<float> mean_values() const;
  std::vector<float> std_values() const;
};

void add_vision_options(CLI::App& command, VisionOptions& options);

/// Parses --threads and --size into the network's options, and copies --input to `input`. Throws a usage
/// error for an invalid size, and if there is no input or more than one.
void complete(VisionOptions& options);

/// Prints clauses about frames that were lost.
void warn_of_losses(const std::vector<std::string>& losses);
/// With --strict, throws a threshold error if there are losses.
void refuse_losses(const std::vector<std::string>& losses, const VisionOptions& options);

}  // namespace hone::cli
