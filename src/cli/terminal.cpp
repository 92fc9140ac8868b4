// See terminal.hpp.
#include "cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

namespace hone::cli {
namespace {

/// Tables of numbers need some width and gain nothing from more.
size_t output_width() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
    return report::SheetStyle().width;
  return std::clamp<size_t>(size.ws_col, 80, 160);
}

}  // namespace

report::SheetStyle file_style(size_t rows) {
  report::SheetStyle style;
  style.rows = rows == 0 ? std::numeric_limits<size_t>::max() : rows;
  return style;
}

report::SheetStyle terminal_style(size_t rows) {
  report::SheetStyle style = file_style(rows);
  style.width = output_width();
  return style;
}

}  // namespace hone::cli
