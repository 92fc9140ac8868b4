// `hone diff --accuracy A B`: finds the first layer at which two engines or models give different numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/image_options.hpp"

namespace hone::cli {

struct AccuracyDiffOptions {
  std::string a;
  std::string b;
  std::vector<std::string> inputs;
  /// A model in floating point. If empty, the first of both files that is one serves as the reference.
  std::string reference;
  std::optional<double> tolerance;
  int threads = 1;
  bool json = false;
  bool csv = false;
  size_t rows = 20;
  ImageOptions images;
};

/// Compares and prints. Throws a threshold error if a tolerance was given and is exceeded.
void diff_accuracy(const AccuracyDiffOptions& options);

}  // namespace hone::cli
