// The user's settings that apply only to TensorRT.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.hpp"

namespace hone::backend::tensorrt {

/// The component that finds the ranges for int8.
enum class Calibrator {
  kHone,     ///< hone, which writes them into the graph as Q/DQ
  kEntropy,  ///< TensorRT's IInt8EntropyCalibrator2
  kMinmax,   ///< TensorRT's IInt8MinMaxCalibrator
};

struct Settings {
  int level = 3;
  /// Bytes of scratch memory that a tactic may use; nullopt for the library's own limit, all of the GPU.
  std::optional<int64_t> workspace;
  /// Sources of tactics, "jit,edge,cublas,cublaslt,cudnn"; empty for the library's choice.
  std::string tactics;
  /// Threads that the builder may use; 0 for the library's default, which is 1.
  int threads = 0;
  /// True if the graph defines the types of all layers; always true from TensorRT 11 on.
  bool strong = false;
  Calibrator calibrator = Calibrator::kHone;
  /// Data for TensorRT's own calibrator, in the form of --calibrate; empty for generated data.
  std::vector<std::string> calibration_data;
  /// A TensorRT calibration cache to use instead of data, and the file for the cache that it writes.
  std::string calibration_cache;
  std::string calibration_output;
  /// True if plans that hone did not write may be loaded.
  bool trust = false;
  bool timing_cache = true;
};

/// Parses the settings whose names begin with "tensorrt.". Usage error for a value out of range or for
/// settings that contradict each other.
Settings settings_of(const LoadOptions& options);

/// The mask that setTacticSources() takes. Usage error for an unknown name, or for one that this major
/// version does not have.
uint32_t tactic_mask(const std::string& names);

/// True if cuBLAS, cuBLASLt or cuDNN is one of these sources of tactics.
bool names_external_library(const std::string& names);

}  // namespace hone::backend::tensorrt
