// See table.hpp.
#include "report/terminal/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hone::report {

size_t shown_width(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

Table::Table(std::vector<Column> columns, size_t gap) : columns_(std::move(columns)), gap_(gap) {
  for (Column& column : columns_) column.width = std::max(column.width, shown_width(column.title));
}

size_t Table::width() const {
  size_t width = gap_ * (columns_.size() - 1);
  for (const Column& column : columns_) width += column.width;
  return width;
}

std::string Table::header() const {
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  return row(titles) + "\n" + std::string(width(), '-');
}

std::string Table::row(const std::vector<std::string>& cells) const {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    const Column& column = columns_.at(i);
    const size_t width = shown_width(cells[i]);
    const std::string padding(column.width > width ? column.width - width : 0, ' ');
    if (i > 0) line.append(gap_, ' ');
    line += column.right ? padding + cells[i] : cells[i] + padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace hone::report
