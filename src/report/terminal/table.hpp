// Tables of text whose column widths are known before the rows, so that rows can appear one by one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone::report {

struct Column {
  std::string title;
  size_t width = 0;
  bool right = true;  ///< numbers to the right, names to the left
};

/// Characters that a terminal shows: bytes that do not continue a UTF-8 sequence.
size_t shown_width(std::string_view text);

class Table {
 public:
  /// `gap`: spaces between two columns.
  explicit Table(std::vector<Column> columns, size_t gap = 2);

  /// Characters of a row whose cells fit.
  size_t width() const;
  /// The titles and a line below them.
  std::string header() const;
  /// One line; a cell that is too long pushes the rest to the right. Cells may be fewer than columns.
  std::string row(const std::vector<std::string>& cells) const;

 private:
  std::vector<Column> columns_;
  size_t gap_;
};

}  // namespace hone::report
