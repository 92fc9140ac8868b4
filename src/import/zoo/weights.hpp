// Where the parameters of a built-in architecture come from: a seed, or a safetensors file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "tensor/tensor.hpp"

namespace hone::importer {

/// What a parameter is to its layer; seeded values depend on it.
enum class Role { kFilter, kBias, kScale, kShift, kMean, kVariance };

/// One float32 parameter, named as in torchvision's state_dict.
struct ParameterSpec {
  std::string name;
  tensor::Shape shape;
  Role role;
  /// Factor on the values a seed gives to a filter or a scale.
  float gain = 1.0f;
  /// One part in this many of each output channel's mean is taken away from a seeded filter; 0: nothing.
  int mean_part = 0;
};

class WeightSource {
 public:
  virtual ~WeightSource() = default;
  virtual tensor::Tensor make(const ParameterSpec& spec) = 0;
  /// Called after the last parameter; bad input when the source holds parameters nobody asked for.
  virtual void finish() {}
};

/// Values that depend on the spec and the seed alone, bit for bit the same on every platform.
///
/// Filters have standard deviation gain / sqrt(fan-in) (He et al. 2015 derive the gain from the activation
/// that follows). Normalization parameters: scale gain * (1 +- 0.1), shift and mean 0 +- 0.1, variance
/// 1 +- 0.2.
std::unique_ptr<WeightSource> seeded_weights(uint64_t seed);

/// The tensors of a safetensors file, which must hold every parameter under its name, as float32 and in its
/// shape, and nothing else (num_batches_tracked aside); bad input naming file and tensor otherwise.
std::unique_ptr<WeightSource> file_weights(const std::filesystem::path& file);

}  // namespace hone::importer
