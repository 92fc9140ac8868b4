// Where the parameters of a built-in architecture come from: a seed, or a safetensors file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.hpp"

namespace hone::importer {

/// The role of a parameter in its layer; seeded values depend on it.
enum class Role {
  kFilter,     ///< [outputs, inputs...]
  kEmbedding,  ///< rows of a table, and whatever else is no sum over its last dimensions
  kBias,
  kScale,
  kShift,
  kMean,
  kVariance,
};

/// One float32 parameter, named as in the state_dict of torchvision or of Hugging Face's transformers.
struct ParameterSpec {
  std::string name;
  tensor::Shape shape;
  Role role;
  /// Factor on the values a seed gives to a filter or a scale; the standard deviation of an embedding.
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

/// Values that depend only on the spec and the seed, bit for bit the same on every platform.
///
/// Filters have standard deviation gain / sqrt(fan-in) (He et al. 2015 derive the gain from the activation
/// that follows). Normalization parameters: scale gain * (1 +- 0.1), shift and mean 0 +- 0.1, variance
/// 1 +- 0.2.
std::unique_ptr<WeightSource> seeded_weights(uint64_t seed);

/// How the files of a published network name what an architecture is made of.
struct FileNames {
  /// Before every name, in files that hold a head around the architecture too ("bert."). Only names with the
  /// prefix are read from such a file.
  std::string_view prefix = {};
  /// Parts of the names of tensors that are no parameters, as of masks that are constant.
  std::vector<std::string_view> ignored = {};
};

/// The tensors of a safetensors file, which must hold every parameter under its name, in its shape and as
/// float32, or as float16 or bfloat16, which are widened, and nothing else (num_batches_tracked and what
/// `names` says aside); bad input naming file and tensor otherwise.
std::unique_ptr<WeightSource> file_weights(const std::filesystem::path& file, FileNames names = {});

}  // namespace hone::importer
