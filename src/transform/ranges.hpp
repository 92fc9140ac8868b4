// Derives the range of a value from the node that produces it.
#pragma once

#include "transform/editor.hpp"

namespace hone::transform {

/// True if it is certain that no element is negative (except NaN).
bool is_non_negative(const Editor& editor, ValueId id);

}  // namespace hone::transform
