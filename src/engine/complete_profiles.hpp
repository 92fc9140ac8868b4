// Completes the shapes that a user names for a build: a range for every input of the model.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "engine/engine.hpp"

namespace hone::engine {

/// The sizes that an engine accepts where the model leaves a dimension open and nobody names its bounds.
enum class OpenDims {
  kAsTuned,  ///< the size it is tuned for, which somebody must name, but for a batch
  kAnySize,  ///< every size
};

/// A range for every input, by name. In a named range, shapes that are empty follow from the others: opt is
/// max, else min; min and max follow from `open`. Inputs that are not named get the sizes that others give
/// their symbols, else the size that is `typical` of a symbol, and `default_size` for further open dimensions
/// (kAsTuned: the batch only). Usage error when a name is that of no input, when a range does not fit the
/// model, or when a size stays unknown.
std::map<std::string, ShapeProfile> complete_profiles(const graph::Graph& graph,
                                                      const std::map<std::string, ShapeProfile>& named,
                                                      OpenDims open, int64_t default_size = 1,
                                                      const std::map<std::string, int64_t>& typical = {});

/// A shape for the user to adapt, "1x3x224x224": what is fixed as it is.
std::string example_shape(const graph::Dims& dims);

}  // namespace hone::engine
