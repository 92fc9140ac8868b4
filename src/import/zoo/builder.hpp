// Builds the graph of a built-in architecture with one call per layer. Layers are named like torchvision's
// modules.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "graph/graph.hpp"
#include "import/zoo/weights.hpp"

namespace hone::importer {

using graph::ValueId;

/// The seeding of an architecture's filters. Filters that read the image or single channels keep their mean.
struct FilterSeeding {
  int mean_part;  ///< see ParameterSpec
  /// Keeps the variance through a rectifier and a filter: 1 / sqrt(0.34 + 0.16 k^2). For a standard normal z,
  /// relu(z) has variance 0.34 and mean 0.4, and k is the share of its own mean that a filter keeps, and so
  /// the share of that 0.4 that it passes on.
  float rectified_gain;
};

// If filters keep their whole means, the positive means of rectified activations add up until every image
// gives the same logits. Without means, a network is chaotic, and a rounding error grows a hundredfold. For
// each architecture the share is chosen so that a small change of the image does not grow relative to the
// logits.
inline constexpr FilterSeeding kWholeMean{0, 1.41421356f};  ///< as He et al. 2015
inline constexpr FilterSeeding kThreeQuartersOfMean{4, 1.5f};
inline constexpr FilterSeeding kHalfOfMean{2, 1.6f};

/// Gain after a layer without activation.
inline constexpr float kLinearGain = 1.0f;

struct ConvSpec {
  int64_t channels;
  int64_t kernel;
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t groups = 1;
  bool bias = false;
  std::optional<float> gain;  ///< by default the gain after a rectifier
  int64_t dilation = 1;
};

struct PoolSpec {
  int64_t kernel;
  int64_t stride;
  int64_t padding = 0;
  bool ceil_mode = false;
};

/// Each layer is a node named `name`, whose output value has the same name, and whose parameters are
/// `name`.weight and so on. Opset-22 operators only.
class GraphBuilder {
 public:
  GraphBuilder(std::string model, const FilterSeeding& seeding, WeightSource& weights);

  /// Adds an input. Symbols in `dims` are open dimensions.
  ValueId input(const std::string& name, tensor::DType dtype, graph::Dims dims);
  /// Adds the input "input" for images: float32 [batch, 3, side, side].
  ValueId image(int64_t side);
  /// The first input.
  ValueId input() const { return graph_.inputs.front(); }
  /// Makes `x` the next output, under this name.
  void output(const std::string& name, ValueId x);

  ValueId conv(const std::string& name, ValueId x, const ConvSpec& spec);
  /// A transposed convolution without groups.
  ValueId transposed_conv(const std::string& name, ValueId x, const ConvSpec& spec);
  ValueId batch_norm(const std::string& name, ValueId x, float gain = 1.0f, float epsilon = 1e-5f);
  ValueId group_norm(const std::string& name, ValueId x, int64_t groups);
  ValueId linear(const std::string& name, ValueId x, int64_t features);
  ValueId relu(const std::string& name, ValueId x);
  ValueId relu6(const std::string& name, ValueId x);
  ValueId sigmoid(const std::string& name, ValueId x);
  /// x * sigmoid(x).
  ValueId silu(const std::string& name, ValueId x);
  ValueId add(const std::string& name, ValueId a, ValueId b);
  ValueId multiply(const std::string& name, ValueId a, ValueId b);
  ValueId concat(const std::string& name, std::span<const ValueId> parts);
  ValueId max_pool(const std::string& name, ValueId x, const PoolSpec& spec);
  ValueId average_pool(const std::string& name, ValueId x, const PoolSpec& spec);
  ValueId global_average_pool(const std::string& name, ValueId x);
  ValueId flatten(const std::string& name, ValueId x);

  /// A node with one output.
  ValueId node(std::string op, const std::string& name, std::vector<ValueId> inputs,
               graph::Attributes attributes = {});
  /// A node with several outputs, named `name`.0 and so on.
  std::vector<ValueId> nodes(std::string op, const std::string& name, std::vector<ValueId> inputs,
                             size_t outputs, graph::Attributes attributes = {});
  ValueId parameter(ParameterSpec spec);
  ValueId constant(const std::string& name, tensor::Tensor tensor);

  /// A known dimension of an existing value; a negative axis counts from the end.
  int64_t dim(ValueId x, int64_t axis) const;
  int64_t channels(ValueId x) const { return dim(x, 1); }

  /// The graph; the builder is empty afterwards.
  graph::Graph finish();

 private:
  graph::Graph graph_;
  FilterSeeding seeding_;
  WeightSource& weights_;
  ValueId zero_ = graph::kNoValue;
  ValueId six_ = graph::kNoValue;
};

}  // namespace hone::importer
