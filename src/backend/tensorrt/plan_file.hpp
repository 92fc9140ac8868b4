// TensorRT plans as files: the bytes that the library serialized, and hone's record of their origin in
// `<file>.json`. A plan contains code that the library runs, so it is loaded only if the record proves that
// this user's hone wrote these bytes, or if the user trusts the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tensor/shape.hpp"

namespace hone::backend::tensorrt {

/// The origin of a plan, and the machine for which it was built.
struct PlanRecord {
  std::string model;
  std::string precision;
  std::string typing;    ///< "weak (fp16)" or "strong": how the types of layers are chosen
  std::string tensorrt;  ///< "8.6.1"
  std::string gpu;       ///< "NVIDIA H200, sm 9.0"
  std::string tactics;   ///< sources of tactics; "default" for the library's choice
  int64_t level = 3;
  double build_seconds = 0;
  /// Shapes by input name, one set for each optimization profile.
  std::vector<std::map<std::string, tensor::Shape>> profiles;
};

struct Plan {
  std::string bytes;
  PlanRecord record;
  /// True if hone wrote the record.
  bool known = false;
};

/// Writes `file` and then `<file>.json`, each atomically.
void write_plan(const std::filesystem::path& file, const Plan& plan);

/// Bad input if the file is missing or empty or its record is damaged and, unless `trusted`, if there is no
/// record or it belongs to other bytes.
Plan read_plan(const std::filesystem::path& file, bool trusted);

/// The path of a cached plan; `key` is a hash of the model and of the build's settings.
std::filesystem::path cached_plan_path(const std::string& key);

}  // namespace hone::backend::tensorrt
