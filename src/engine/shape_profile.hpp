// What makes a range of shapes that of an input, asked for by a user or read from a file.
#pragma once

#include <string>

#include "engine/engine.hpp"

namespace hone::engine {

/// Why the range is none, or none of this input, as a clause; empty when it is.
std::string profile_fault(const graph::Value& input, const ShapeProfile& profile);

}  // namespace hone::engine
