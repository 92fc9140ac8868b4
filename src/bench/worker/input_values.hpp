// Which values of an input mean something to a model: random numbers are no tokens, no mask and no positions.
#pragma once

#include <cstdint>
#include <memory>

#include "graph/graph.hpp"
#include "tensor/tensor.hpp"

namespace hone::bench {

struct InputValues {
  enum class Kind : uint8_t {
    kAny,       ///< floating-point numbers normal, integers in [1, 9], bools either
    kBelow,     ///< integers in [0, bound)
    kOnes,      ///< 1, or true
    kCounting,  ///< from `first` on, along the last dimension
    kConstant,  ///< `constant` everywhere
    kGiven,     ///< those of `given`, from its first element on, again and again
  };
  Kind kind = Kind::kAny;
  int64_t bound = 0;
  int64_t first = 0;
  double constant = 0;
  /// A given value, of the input's type.
  std::shared_ptr<const tensor::Tensor> given = {};
};

/// Values follow from the way the model uses an input: indices into a table are below its number of rows.
/// They also follow from its name: an attention mask hides nothing, position ids count.
InputValues values_of(const graph::Graph& graph, graph::ValueId input);

}  // namespace hone::bench
