// The true classes of samples, read from files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "quantize/data.hpp"

namespace hone::quantize {

struct Labels {
  /// The file that they came from, for messages.
  std::string file;
  /// Labels in the order of the samples; empty if the file names sample files.
  std::vector<int64_t> in_order;
  /// Labels by the name of a sample's file without folders; empty if labels are in the order of samples.
  std::map<std::string, int64_t> by_file;
};

/// Reads a .npy file with one dimension of integers, the array `labels` of a .npz file, or lines of text. A
/// line holds either a class, in the order of the samples, or a file name and its class, separated by a
/// space, tab or comma. Bad input names file and line.
Labels read_labels(const std::filesystem::path& file);

/// Returns the class of each sample in order. Bad input for a sample without a label, for a class that is not
/// below `classes`, and, if `all` samples were read, for surplus labels in a list without file names.
std::vector<int64_t> labels_of(const Labels& labels, const std::vector<Samples>& samples, int64_t classes,
                               bool all);

}  // namespace hone::quantize
