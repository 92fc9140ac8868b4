// Writes down a built-in architecture as a graph: one call per layer, named as torchvision's module.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "graph/graph.hpp"
#include "import/zoo/weights.hpp"

namespace hone::importer {

using graph::ValueId;

/// Gain that keeps the variance through a rectifier and a filter without half of its mean: relu(z) of a
/// standard normal z has variance 0.34 and mean 0.4, of which half gets through; 1 / sqrt(0.34 + 0.04)
/// is 1.6.
inline constexpr float kRectifiedGain = 1.6f;
/// The same after a layer without activation.
inline constexpr float kLinearGain = 1.0f;

struct ConvSpec {
  int64_t channels;
  int64_t kernel;
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t groups = 1;
  bool bias = false;
  float gain = kRectifiedGain;
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
  GraphBuilder(std::string model, WeightSource& weights);

  /// The image: float32 [batch, 3, 224, 224].
  ValueId input() const { return graph_.inputs.front(); }

  ValueId conv(const std::string& name, ValueId x, const ConvSpec& spec);
  ValueId batch_norm(const std::string& name, ValueId x, float gain = 1.0f);
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

  int64_t channels(ValueId x) const { return dim(x, 1); }

  /// The graph with `x`, renamed to "output", as its output; the builder is empty afterwards.
  graph::Graph finish(ValueId x);

 private:
  ValueId node(std::string op, const std::string& name, std::vector<ValueId> inputs,
               graph::Attributes attributes = {});
  ValueId parameter(ParameterSpec spec);
  /// A known dimension of a value made so far.
  int64_t dim(ValueId x, size_t axis) const;

  graph::Graph graph_;
  WeightSource& weights_;
  ValueId zero_ = graph::kNoValue;
  ValueId six_ = graph::kNoValue;
};

}  // namespace hone::importer
