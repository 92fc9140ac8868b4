// How tables are shown to people.
#pragma once

#include <optional>

#include "report/terminal/sheet.hpp"

namespace hone::cli {

/// Width in characters of the terminal of a file descriptor; nullopt when there is none, or it does not
/// say.
std::optional<size_t> terminal_columns(int descriptor);

/// As wide as the terminal, within reason, and as usual where the output goes elsewhere; `rows` of each
/// table, 0 for all.
report::SheetStyle terminal_style(size_t rows);

/// The style for a file.
report::SheetStyle file_style(size_t rows);

}  // namespace hone::cli
