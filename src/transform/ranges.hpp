// Derives the range of a value from the node that makes it.
#pragma once

#include "transform/editor.hpp"

namespace hone::transform {

/// True if no element can be negative (NaN aside), for certain.
bool is_non_negative(const Editor& editor, ValueId id);

}  // namespace hone::transform
