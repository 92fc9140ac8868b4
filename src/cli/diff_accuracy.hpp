// `hone diff --accuracy A B`: the first layer at which two engines or models give different numbers.
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
  /// A model in floating point; empty: the first of both that is one.
  std::string reference;
  std::optional<double> tolerance;
  int threads = 1;
  bool json = false;
  bool csv = false;
  size_t rows = 20;
  ImageOptions images;
};

/// Prints. Throws an error of a threshold where a tolerance was given and exceeded.
void diff_accuracy(const AccuracyDiffOptions& options);

}  // namespace hone::cli
