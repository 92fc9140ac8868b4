// Symbols of tables that plain ASCII lacks, and what stands for them where a terminal has only that.
#pragma once

#include <string>
#include <string_view>

namespace hone::report {

/// False where LC_ALL, else LC_CTYPE, else LANG names the locale C or POSIX.
bool has_unicode();

/// "…" or "..", for text that is left out.
std::string_view ellipsis();
/// "±" or "+-".
std::string_view plus_minus();
/// The text with these symbols as the terminal has them.
std::string with_symbols(std::string text);

}  // namespace hone::report
