// Short names for models, which users name by paths.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace hone::bench {

/// The model's name as a file name: the stem of its path, with all characters except letters, digits, '.',
/// '-' and '_' replaced; "model" if nothing remains.
std::string file_stem(const std::string& model);

/// Returns a unique name for each model: its stem, preceded by the part of its path that no other model has;
/// if that is not enough, the whole file name, or a number after it. The names are safe as relative paths.
std::vector<std::string> distinct_names(const std::vector<std::string>& models);

/// Short names by model; models may be repeated.
std::map<std::string, std::string> short_names(const std::vector<std::string>& models);

/// Returns true if both name the same model, like ./net.onnx and net.onnx.
bool same_model(const std::string& a, const std::string& b);

}  // namespace hone::bench
