// Guesses the name that somebody meant who misspelt it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hone::base {

/// Edits that turn one into the other: letters put in, left out or changed, and neighbours exchanged (optimal
/// string alignment).
size_t edit_distance(std::string_view a, std::string_view b);

/// The nearest of the known names, where it is near enough to be what was meant: a name that it begins (from
/// four letters on), or one that few edits turn it into.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> known);

}  // namespace hone::base
