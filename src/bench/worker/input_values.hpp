// Chooses valid values for a model's inputs, because random numbers are not valid tokens, masks or positions.
#pragma once

#include <cstdint>
#include <memory>

#include "graph/graph.hpp"
#include "tensor/tensor.hpp"

namespace hone::bench {

struct InputValues {
  enum class Kind : uint8_t {
    kAny,       ///< floating-point numbers are normal, integers are in [1, 9], bools are either
    kBelow,     ///< integers in [0, bound)
    kOnes,      ///< 1, or true
    kCounting,  ///< counts from `first` along the last dimension
    kConstant,  ///< all elements are `constant`
    kGiven,     ///< the elements of `given` in order, repeated
  };
  Kind kind = Kind::kAny;
  int64_t bound = 0;
  int64_t first = 0;
  double constant = 0;
  /// A given value with the input's type.
  std::shared_ptr<const tensor::Tensor> given = {};
};

/// Derives values from the way the model uses an input (indices into a table are below its number of rows)
/// and from its name (an attention mask hides nothing, position ids count up).
InputValues values_of(const graph::Graph& graph, graph::ValueId input);

}  // namespace hone::bench
