// Completes the shapes that a user gives for a build to a range for every input of the model.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "engine/engine.hpp"

namespace hone::engine {

/// The sizes that an engine accepts in a dimension that the model leaves open and for which no range is
/// given.
enum class OpenDims {
  kAsTuned,  ///< only the size for which it is tuned, which must be given except for a batch
  kAnySize,  ///< every size
};

/// Returns a range for every input, by name. In a named range, missing shapes are derived: opt is max, else
/// min; min and max follow from `open`. Inputs without a range get the sizes that other inputs give their
/// symbols, else the `typical` size of the symbol, and `default_size` for other open dimensions (with
/// kAsTuned only for the batch). Usage error for a name that no input has, for a range that does not fit the
/// model, and for a size that stays unknown.
std::map<std::string, ShapeProfile> complete_profiles(const graph::Graph& graph,
                                                      const std::map<std::string, ShapeProfile>& named,
                                                      OpenDims open, int64_t default_size = 1,
                                                      const std::map<std::string, int64_t>& typical = {});

/// An example for the user, "1x3x224x224"; fixed dimensions keep their sizes.
std::string example_shape(const graph::Dims& dims);

}  // namespace hone::engine
