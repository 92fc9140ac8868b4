// Symbols in tables, with replacements for terminals that have only ASCII.
#pragma once

#include <string>
#include <string_view>

namespace hone::report {

/// False if LC_ALL, else LC_CTYPE, else LANG selects the locale C or POSIX.
bool has_unicode();

/// "…" or "..", for text that is left out.
std::string_view ellipsis();
/// "±" or "+-".
std::string_view plus_minus();
/// Replaces these symbols in the text if the terminal has only ASCII.
std::string with_symbols(std::string text);

}  // namespace hone::report
