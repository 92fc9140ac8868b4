// Checks ranges of input shapes that a user gave or a file contains.
#pragma once

#include <string>

#include "engine/engine.hpp"

namespace hone::engine {

/// Returns a clause that says why the range is invalid or does not fit this input; empty if it is valid.
std::string profile_fault(const graph::Value& input, const ShapeProfile& profile);

/// "1x3x224x224 to 8x3x224x224", for people; * is a dimension without a largest size.
std::string range_text(const ShapeProfile& profile);

/// "input x: 1x3x224x224 to 8x3x224x224, tuned for 4x3x224x224".
std::string input_text(const std::string& name, const ShapeProfile& profile);

}  // namespace hone::engine
