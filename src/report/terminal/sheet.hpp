// A table for people and for CSV: every cell has a text with a unit and a plain value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hone::report {

struct Cell {
  std::string text;   ///< "1.234 ms"
  std::string plain;  ///< "1234000"
  /// The text to show if there is little room; if it is empty, the middle of the text is left out.
  std::string shorter = {};
  /// True if the shorter text ends in "+2", the number of parts that it leaves out.
  bool counts = false;
};

Cell text_cell(std::string text);
/// A cell with several parts: "conv1 + bn1 + relu", or "conv1 +2" if there is little room.
Cell parts_cell(const std::vector<std::string>& parts, const std::string& between);
Cell count_cell(int64_t count);
Cell time_cell(double nanoseconds);
Cell share_cell(double share);  ///< a share, shown in per cent
Cell bytes_cell(double bytes);
Cell rate_cell(double bytes_per_second);
/// A value of a counter or metric: sizes and rates get a suitable unit, others are shown unchanged.
Cell unit_cell(double value, const std::string& unit);
/// A cell for an unknown figure.
Cell no_cell();

struct SheetColumn {
  std::string title;
  std::string unit;    ///< of the plain values: "ns", "%"; empty for names and counts
  bool right = true;   ///< numbers are aligned right, names left
  bool spare = false;  ///< may be left out of the text if there is not enough room; the last of them first
};

struct Sheet {
  std::string title;
  std::vector<SheetColumn> columns;
  std::vector<std::vector<Cell>> rows;
  std::vector<std::string> notes;  ///< sentences below the table
  bool whole = false;              ///< rows belong together: all are shown, even if a limit was set
};

struct SheetStyle {
  size_t width = 120;  ///< in characters; long names are cut in the middle to fit
  size_t rows = 20;    ///< further rows are only counted
};

/// Title, table and notes, one line each; notes are wrapped.
std::vector<std::string> sheet_text(const Sheet& sheet, const SheetStyle& style);

/// "# title", the column titles with units, and the rows, all of them escaped. RFC 4180 without carriage
/// returns.
std::vector<std::string> sheet_csv(const Sheet& sheet);

/// The text, quoted if CSV requires it.
std::string csv_field(const std::string& text);

/// Escapes control characters (\x1b): names come from files, and a terminal would execute escape sequences in
/// them.
std::string printable(const std::string& text);

/// Cuts the middle of the text: "void gemm…float>". Counts characters, not bytes.
std::string cut_middle(const std::string& text, size_t width);

/// Breaks text into escaped lines of at most `width` characters; all lines except the first are indented, and
/// longer words are cut.
std::vector<std::string> wrap(const std::string& text, size_t width, size_t indent = 0);

}  // namespace hone::report
