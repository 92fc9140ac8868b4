// Small random networks for differential tests: convolutional and transformer-like, symbolic batch.
#pragma once

#include <random>

#include "support/graph_builder.hpp"

namespace hone::test {

/// Builds one network from a seed: the same graph for the same seed on every platform.
class RandomGraph {
 public:
  explicit RandomGraph(uint32_t seed) : generator_(seed) {}
  Graph build();

 private:
  /// A value and its known dimensions after the batch.
  struct Feature {
    ValueId id;
    Shape shape;
  };

  int64_t pick(int64_t count) { return static_cast<int64_t>(generator_() % static_cast<uint32_t>(count)); }
  bool chance(int percent) { return pick(100) < percent; }
  Feature& any(std::vector<Feature>& features) {
    return features[static_cast<size_t>(pick(static_cast<int64_t>(features.size())))];
  }

  ValueId activation(ValueId x);
  ValueId gelu(ValueId x);
  ValueId layer_norm(ValueId x, int64_t width);
  Feature image_step(const Feature& x);
  Feature token_step(const Feature& x);
  Feature convolution(const Feature& x);
  Feature nothing(const Feature& x);
  Feature attention(const Feature& x);
  Feature combine(const Feature& x, const Feature& y);
  ValueId head(const Feature& x);
  ValueId normalized(ValueId x, int64_t in, int64_t out, int64_t kernel, bool bounded);
  Graph stage();

  std::mt19937 generator_;
  GraphBuilder b_;
};

}  // namespace hone::test
