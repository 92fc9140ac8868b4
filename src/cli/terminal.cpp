// See terminal.hpp.
#include "cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

namespace hone::cli {

std::optional<size_t> terminal_columns(int descriptor) {
  winsize size{};
  if (::isatty(descriptor) == 0 || ::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return std::nullopt;
  return size.ws_col;
}

report::SheetStyle file_style(size_t rows) {
  report::SheetStyle style;
  style.rows = rows == 0 ? std::numeric_limits<size_t>::max() : rows;
  return style;
}

report::SheetStyle terminal_style(size_t rows) {
  report::SheetStyle style = file_style(rows);
  // Tables need at least 80 columns, and more than 160 do not help.
  if (const auto columns = terminal_columns(STDOUT_FILENO))
    style.width = std::clamp<size_t>(*columns, 80, 160);
  return style;
}

}  // namespace hone::cli
