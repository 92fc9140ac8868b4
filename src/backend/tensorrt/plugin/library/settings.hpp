// The user's settings for TensorRT only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.hpp"

namespace hone::backend::tensorrt {

/// Who finds the ranges of int8.
enum class Calibrator {
  kHone,     ///< hone, which writes them into the graph as Q/DQ
  kEntropy,  ///< TensorRT's IInt8EntropyCalibrator2
  kMinmax,   ///< TensorRT's IInt8MinMaxCalibrator
};

struct Settings {
  int level = 3;
  /// Bytes that a tactic may take for its scratch; nothing: the library's own limit, all of the GPU.
  std::optional<int64_t> workspace;
  /// Sources of tactics, "jit,edge,cublas,cublaslt,cudnn"; empty: as the library chooses.
  std::string tactics;
  /// Threads that the builder may use; 0: as the library has it, which is 1.
  int threads = 0;
  /// The graph says the types of all layers; always so from TensorRT 11 on.
  bool strong = false;
  Calibrator calibrator = Calibrator::kHone;
  /// Data for TensorRT's own calibrator, as --calibrate takes it; none: generated.
  std::vector<std::string> calibration_data;
  /// TensorRT's calibration cache to build from, instead of data, and the file for the one that it writes.
  std::string calibration_cache;
  std::string calibration_output;
  /// Plans that hone did not write are loaded.
  bool trust = false;
  bool timing_cache = true;
};

/// Parses the settings whose names begin with "tensorrt.". Usage error for a value out of range, and for
/// settings that do not go together.
Settings settings_of(const LoadOptions& options);

/// The mask that setTacticSources() takes. Usage error for an unknown name, and for one that this major does
/// not have.
uint32_t tactic_mask(const std::string& names);

/// True if cuBLAS, cuBLASLt or cuDNN is one of these sources of tactics.
bool names_external_library(const std::string& names);

}  // namespace hone::backend::tensorrt
