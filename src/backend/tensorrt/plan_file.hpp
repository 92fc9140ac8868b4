// Plans of TensorRT as files: the bytes that the library serialized, and next to them `<file>.json`, hone's
// record of how they came about. A plan holds code that the library runs, so one is loaded only where the
// record proves that this user's hone wrote these bytes, or where the user trusts the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tensor/shape.hpp"

namespace hone::backend::tensorrt {

/// The source of a plan, and the machine that it is for.
struct PlanRecord {
  std::string model;
  std::string precision;
  std::string typing;    ///< "weak (fp16)" or "strong": who chose the types of layers
  std::string tensorrt;  ///< "8.6.1"
  std::string gpu;       ///< "NVIDIA H200, sm 9.0"
  std::string tactics;   ///< sources of tactics, "default" where the library chose
  int64_t level = 3;
  double build_seconds = 0;
  /// Shapes by input name, one set for each optimization profile.
  std::vector<std::map<std::string, tensor::Shape>> profiles;
};

struct Plan {
  std::string bytes;
  PlanRecord record;
  /// True if the record is hone's.
  bool known = false;
};

/// `file` and `<file>.json`, each written whole or not at all, the record last.
void write_plan(const std::filesystem::path& file, const Plan& plan);

/// Bad input where the file is missing or empty, where its record is damaged, and, unless `trusted`, where
/// there is no record or the bytes are not those that it is about.
Plan read_plan(const std::filesystem::path& file, bool trusted);

/// The path of the plan for such a model built in such a way; `key` is a hash of both.
std::filesystem::path cached_plan_path(const std::string& key);

}  // namespace hone::backend::tensorrt
