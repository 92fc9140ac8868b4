// Guesses the intended name from a misspelled one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hone::base {

/// Number of edits that turn one text into the other: inserted, removed or changed letters, and exchanged
/// neighbours (optimal string alignment).
size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the nearest of the known names if it is a plausible intention: a name that begins with `name`
/// (from four letters on), or one that few edits produce.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> known);

}  // namespace hone::base
