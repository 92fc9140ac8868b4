// Sources of the parameters of a built-in architecture: a seed, or a safetensors file.
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
  kEmbedding,  ///< rows of a table, and other parameters that are not summed over their last dimensions
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
  /// Factor on the seeded values of a filter or a scale; the standard deviation of an embedding.
  float gain = 1.0f;
  /// If not 0, the mean of each output channel divided by this number is subtracted from a seeded filter.
  int mean_part = 0;
};

class WeightSource {
 public:
  virtual ~WeightSource() = default;
  virtual tensor::Tensor make(const ParameterSpec& spec) = 0;
  /// Called after the last parameter; bad input if the source has parameters that were not requested.
  virtual void finish() {}
};

/// Values that depend only on the spec and the seed, bit for bit the same on every platform.
///
/// Filters have standard deviation gain / sqrt(fan-in) (He et al. 2015 derive the gain from the activation
/// that follows). Normalization parameters: scale gain * (1 +- 0.1), shift and mean 0 +- 0.1, variance
/// 1 +- 0.2.
std::unique_ptr<WeightSource> seeded_weights(uint64_t seed);

/// The naming of an architecture's parameters in the files of a published network.
struct FileNames {
  /// The prefix of every name in files that also have a head ("bert."). Only names with the prefix are read
  /// from such a file.
  std::string_view prefix = {};
  /// Parts of the names of tensors that are not parameters, such as constant masks.
  std::vector<std::string_view> ignored = {};
};

/// The tensors of a safetensors file. It must have every parameter with its name and shape, as float32, or as
/// float16 or bfloat16, which are widened. It must have nothing else except num_batches_tracked and tensors
/// that `names` excludes. Otherwise throws bad input that names file and tensor.
std::unique_ptr<WeightSource> file_weights(const std::filesystem::path& file, FileNames names = {});

}  // namespace hone::importer
