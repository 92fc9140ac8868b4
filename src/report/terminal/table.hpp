// Text tables whose column widths are known before the rows, so that rows can be printed one by one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone::report {

struct Column {
  std::string title;
  size_t width = 0;
  bool right = true;  ///< numbers are aligned right, names left
};

/// Number of characters on a terminal: bytes that do not continue a UTF-8 sequence.
size_t shown_width(std::string_view text);

class Table {
 public:
  /// `gap` is the number of spaces between two columns.
  explicit Table(std::vector<Column> columns, size_t gap = 2);

  /// Width of a row whose cells fit, in characters.
  size_t width() const;
  /// The titles and a separator line.
  std::string header() const;
  /// One line. A cell that is too long shifts the rest to the right. There may be fewer cells than columns.
  std::string row(const std::vector<std::string>& cells) const;

 private:
  std::vector<Column> columns_;
  size_t gap_;
};

}  // namespace hone::report
