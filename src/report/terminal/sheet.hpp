// A table that is shown to people and written as CSV: every cell has a text with a unit and a plain value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hone::report {

struct Cell {
  std::string text;   ///< "1.234 ms"
  std::string plain;  ///< "1234000"
  /// The text to show where there is no room for it; the text's middle is left out when this is empty.
  std::string shorter = {};
};

Cell text_cell(std::string text);
/// A cell of several parts: "conv1 + bn1 + relu", or "conv1 +2" where there is little room.
Cell parts_cell(const std::vector<std::string>& parts, const std::string& between);
Cell count_cell(int64_t count);
Cell time_cell(double nanoseconds);
Cell share_cell(double share);  ///< in per cent
Cell bytes_cell(double bytes);
Cell rate_cell(double bytes_per_second);
/// A value of a counter or metric: sizes and rates with a unit that suits, others as they are.
Cell unit_cell(double value, const std::string& unit);
/// A cell for an unknown figure.
Cell no_cell();

struct SheetColumn {
  std::string title;
  std::string unit;    ///< of the plain values: "ns", "%"; empty for names and counts
  bool right = true;   ///< numbers to the right, names to the left
  bool spare = false;  ///< left out of the text, the last ones first, where there is no room for all
};

struct Sheet {
  std::string title;
  std::vector<SheetColumn> columns;
  std::vector<std::vector<Cell>> rows;
  std::vector<std::string> notes;  ///< sentences below the table
  bool whole = false;              ///< rows belong together: all are shown, however few are asked for
};

struct SheetStyle {
  size_t width = 120;  ///< characters; long names are cut in the middle to keep to it
  size_t rows = 20;    ///< more are counted, not shown
};

/// Title, table and notes, one line each; notes are wrapped.
std::vector<std::string> sheet_text(const Sheet& sheet, const SheetStyle& style);

/// "# title", the column titles with units, the rows, all of it printable. RFC 4180, without carriage
/// returns.
std::vector<std::string> sheet_csv(const Sheet& sheet);

/// The text, in quotes where CSV needs them.
std::string csv_field(const std::string& text);

/// With control characters written out (\x1b): names come from files, and a terminal would obey them.
std::string printable(const std::string& text);

/// The text cut in its middle: "void gemm…float>". Counts characters, not bytes.
std::string cut_middle(const std::string& text, size_t width);

/// Printable lines of at most `width` characters, those after the first indented; longer words are cut.
std::vector<std::string> wrap(const std::string& text, size_t width, size_t indent = 0);

}  // namespace hone::report
