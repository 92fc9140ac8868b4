// Short names of models, which users name by paths.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace hone::bench {

/// The model's name as a file name: the stem of a path, with other characters than letters, digits, '.', '-'
/// and '_' replaced; "model" where nothing is left.
std::string file_stem(const std::string& model);

/// One for each model: its stem, and before it the part of its path that no other model has; where that is
/// not enough, the whole file name, or a number after it. Safe as relative paths.
std::vector<std::string> distinct_names(const std::vector<std::string>& models);

/// Short names by model; models may be repeated.
std::map<std::string, std::string> short_names(const std::vector<std::string>& models);

/// Returns true if both name one model, as ./net.onnx and net.onnx do.
bool same_model(const std::string& a, const std::string& b);

}  // namespace hone::bench
