// What the user chose for TensorRT alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backend/backend.hpp"

namespace hone::backend::tensorrt {

struct Settings {
  int level = 3;
  /// Bytes that a tactic may take for its scratch; nothing: the library's own limit, all of the GPU.
  std::optional<int64_t> workspace;
  /// Sources of tactics, "jit,edge,cublas,cublaslt,cudnn"; empty: as the library chooses.
  std::string tactics;
  /// The graph says the types of all layers; always so from TensorRT 11 on.
  bool strong = false;
  /// Plans that hone did not write are loaded.
  bool trust = false;
  bool timing_cache = true;
};

/// Of the settings whose names begin with "tensorrt.". Usage error for a value out of range.
Settings settings_of(const LoadOptions& options);

/// As setTacticSources() takes them. Usage error for an unknown name, and for one that this major does not
/// have.
uint32_t tactic_mask(const std::string& names);

}  // namespace hone::backend::tensorrt
