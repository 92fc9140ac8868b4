// Checks ranges of shapes of inputs, asked for by a user or read from a file.
#pragma once

#include <string>

#include "engine/engine.hpp"

namespace hone::engine {

/// Why the range is none, or none of this input, as a clause; empty when it is.
std::string profile_fault(const graph::Value& input, const ShapeProfile& profile);

/// "1x3x224x224 to 8x3x224x224", for people; a dimension without a largest size is *.
std::string range_text(const ShapeProfile& profile);

/// "input x: 1x3x224x224 to 8x3x224x224, tuned for 4x3x224x224".
std::string input_text(const std::string& name, const ShapeProfile& profile);

}  // namespace hone::engine
