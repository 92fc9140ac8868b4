// Widths and styles of tables for people.
#pragma once

#include <optional>

#include "report/terminal/sheet.hpp"

namespace hone::cli {

/// Returns the width in characters of the terminal of a file descriptor; nullopt if it is not a terminal or
/// has no known width.
std::optional<size_t> terminal_columns(int descriptor);

/// Returns a style that is as wide as the terminal (within limits), or of default width if the output is not
/// a terminal. `rows` limits each table; 0 shows all.
report::SheetStyle terminal_style(size_t rows);

/// Returns the style for a file.
report::SheetStyle file_style(size_t rows);

}  // namespace hone::cli
