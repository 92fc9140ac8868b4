// The right classes of samples, as files have them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "quantize/data.hpp"

namespace hone::quantize {

struct Labels {
  /// Where it came from, for messages.
  std::string file;
  /// Labels in the order of the samples; empty where files are named.
  std::vector<int64_t> in_order;
  /// Labels by the name of a sample's file without its folders; empty where the order counts.
  std::map<std::string, int64_t> by_file;
};

/// A .npy file of one dimension of integers, an array `labels` of a .npz file, or lines of text: a class in
/// the order of the samples, or a file's name and its class with a space, tab or comma between. Bad input
/// naming file and line.
Labels read_labels(const std::filesystem::path& file);

/// The class of each sample, in their order. Bad input for a sample without a label, labels left over in a
/// list that names no files when all samples are read (`all`), and a class that is not one of `classes`.
std::vector<int64_t> labels_of(const Labels& labels, const std::vector<Samples>& samples, int64_t classes,
                               bool all);

}  // namespace hone::quantize
