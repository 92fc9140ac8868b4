// How tables are shown to people.
#pragma once

#include "report/sheet.hpp"

namespace hone::cli {

/// As wide as the terminal, within reason, and as usual where the output goes elsewhere; `rows` of each
/// table, 0 for all.
report::SheetStyle terminal_style(size_t rows);

/// For a file.
report::SheetStyle file_style(size_t rows);

}  // namespace hone::cli
