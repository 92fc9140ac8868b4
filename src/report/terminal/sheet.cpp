// See sheet.hpp.
#include "report/terminal/sheet.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "base/units.hpp"
#include "report/terminal/symbols.hpp"
#include "report/terminal/table.hpp"

namespace hone::report {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kShortestName = 16;

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

size_t characters(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

/// The byte offset of the n-th character.
size_t byte_of(const std::string& text, size_t character) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (continues_character(text[at])) continue;
    if (character-- == 0) break;
  }
  return at;
}

/// The widest cell of each shown column.
std::vector<size_t> widths_of(const Sheet& sheet, size_t rows) {
  std::vector<size_t> widths;
  for (const SheetColumn& column : sheet.columns) widths.push_back(characters(column.title));
  for (size_t row = 0; row < rows; ++row) {
    for (size_t i = 0; i < sheet.rows[row].size(); ++i)
      widths.at(i) = std::max(widths.at(i), characters(sheet.rows[row][i].text));
  }
  return widths;
}

/// Narrows the widest column of names while the table is too wide.
void fit(const Sheet& sheet, size_t width, std::vector<size_t>& widths) {
  size_t sum = std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
  while (sum > width) {
    std::optional<size_t> widest;
    for (size_t i = 0; i < widths.size(); ++i) {
      if (!sheet.columns[i].right && widths[i] > kShortestName && (!widest || widths[i] > widths[*widest]))
        widest = i;
    }
    if (!widest) return;
    --widths[*widest];
    --sum;
  }
}

}  // namespace

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

Cell text_cell(std::string text) { return {text, std::move(text)}; }
Cell parts_cell(const std::vector<std::string>& parts, const std::string& between) {
  Cell cell = text_cell(fmt::format("{}", fmt::join(parts, between)));
  if (parts.size() > 1) cell.shorter = fmt::format("{} +{}", parts.front(), parts.size() - 1);
  cell.counts = parts.size() > 1;
  return cell;
}

Cell count_cell(int64_t count) { return text_cell(std::to_string(count)); }
Cell time_cell(double nanoseconds) {
  return {base::time_text(nanoseconds), fmt::format("{:.12g}", nanoseconds)};
}
Cell share_cell(double share) { return {base::share_text(share), fmt::format("{:.4f}", 100 * share)}; }
Cell bytes_cell(double bytes) { return {base::bytes_text(bytes), fmt::format("{:.15g}", bytes)}; }
Cell rate_cell(double rate) { return {base::rate_text(rate), fmt::format("{:.6g}", rate)}; }
Cell unit_cell(double value, const std::string& unit) {
  std::string text = base::number_text(value);
  if (unit == "B") text = base::bytes_text(value);
  if (unit == "B/s") text = base::rate_text(value);
  return {std::move(text), fmt::format("{:.6g}", value)};
}
Cell no_cell() { return {"-", ""}; }

std::string printable(const std::string& text) {
  constexpr unsigned char kDelete = 0x7f;
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F are control characters too.
    const bool second = c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (second) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[++i]));
    } else if (c < ' ' || c == kDelete) {
      result += fmt::format("\\x{:02x}", c);
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string cut_middle(const std::string& text, size_t width) {
  const size_t length = characters(text);
  if (length <= width || width < 3) return text;
  const std::string mark(ellipsis());
  const size_t kept = width - characters(mark);
  const size_t head = kept * 2 / 3;
  return text.substr(0, byte_of(text, head)) + mark + text.substr(byte_of(text, length - (kept - head)));
}

std::vector<std::string> wrap(const std::string& recorded, size_t width, size_t indent) {
  const std::string text = printable(recorded);
  std::vector<std::string> lines;
  size_t begin = std::min(text.find_first_not_of(' '), text.size());
  std::string line = text.substr(0, begin);
  while (begin < text.size()) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = cut_middle(text.substr(begin, end - begin), width - std::min(width, indent));
    begin = end + 1;
    const bool first_word = line.find_first_not_of(' ') == std::string::npos;
    if (!first_word && characters(line) + 1 + characters(word) > width) {
      lines.push_back(line);
      line = std::string(indent, ' ') + word;
    } else {
      line += (first_word ? "" : " ") + word;
    }
  }
  lines.push_back(line);
  return lines;
}

namespace {

/// The number of characters with which all texts begin in common.
size_t common_start(const std::vector<std::string>& texts) {
  size_t bytes = texts.front().size();
  for (const std::string& text : texts) {
    const auto differs = std::ranges::mismatch(texts.front(), text).in1;
    bytes = std::min(bytes, static_cast<size_t>(differs - texts.front().begin()));
  }
  while (bytes > 0 && bytes < texts.front().size() && continues_character(texts.front()[bytes])) --bytes;
  return characters(texts.front().substr(0, bytes));
}

/// Returns the beginning of the text, followed by the part that starts shortly before `place`.
std::string cut_before(const std::string& text, size_t place, size_t width) {
  constexpr size_t kBefore = 2;
  const size_t length = characters(text);
  const size_t head = width / 4;
  const std::string mark(ellipsis());
  const size_t room = width - head - characters(mark);
  const size_t from = std::max(head + 1, place - std::min(place, kBefore));
  if (length <= width || from + room >= length) return cut_middle(text, width);
  const size_t end = from + room - characters(mark);
  return text.substr(0, byte_of(text, head)) + mark +
         text.substr(byte_of(text, from), byte_of(text, end) - byte_of(text, from)) + mark;
}

/// Cuts names to a width. Names that would become equal, like kernels of one template, are cut so that the
/// difference remains visible.
std::vector<std::string> cut_names(const std::vector<std::string>& names, size_t width) {
  std::map<std::string, std::vector<std::string>> alike;
  for (const std::string& name : names) {
    auto& group = alike[cut_middle(name, width)];
    if (std::ranges::find(group, name) == group.end()) group.push_back(name);
  }
  std::vector<std::string> cut;
  for (const std::string& name : names) {
    const std::string middle = cut_middle(name, width);
    const auto& group = alike.at(middle);
    cut.push_back(group.size() > 1 ? cut_before(name, common_start(group), width) : middle);
  }
  return cut;
}

/// The shown rows, with escaped texts.
Sheet shown(const Sheet& sheet, size_t rows) {
  Sheet result{with_symbols(printable(sheet.title)), sheet.columns, {}, sheet.notes};
  for (SheetColumn& column : result.columns) column.title = with_symbols(column.title);
  for (std::string& note : result.notes) note = with_symbols(note);
  for (size_t row = 0; row < rows; ++row) {
    result.rows.push_back(sheet.rows[row]);
    for (Cell& cell : result.rows.back()) {
      cell.text = with_symbols(printable(cell.text));
      cell.shorter = with_symbols(printable(cell.shorter));
    }
  }
  return result;
}

/// The width of the table if names are as short as possible.
size_t least_width(const Sheet& sheet, const std::vector<size_t>& widths) {
  size_t sum = kGap * (widths.size() - 1);
  for (size_t i = 0; i < widths.size(); ++i)
    sum += sheet.columns[i].right ? widths[i] : std::min(widths[i], kShortestName);
  return sum;
}

/// Removes spare columns until the table fits, and lists them in a note.
void spare_columns(Sheet& sheet, size_t width) {
  std::vector<size_t> widths = widths_of(sheet, sheet.rows.size());
  std::vector<std::string> left_out;
  for (size_t i = sheet.columns.size(); i-- > 0 && least_width(sheet, widths) > width;) {
    if (!sheet.columns[i].spare) continue;
    const auto place = static_cast<std::ptrdiff_t>(i);
    left_out.insert(left_out.begin(), sheet.columns[i].title);
    sheet.columns.erase(sheet.columns.begin() + place);
    widths.erase(widths.begin() + place);
    for (std::vector<Cell>& row : sheet.rows) row.erase(row.begin() + place);
  }
  if (!left_out.empty())
    sheet.notes.push_back(
        fmt::format("No room for {} (a wider terminal has them).", fmt::join(left_out, ", ")));
}

}  // namespace

std::vector<std::string> sheet_text(const Sheet& all, const SheetStyle& style) {
  const size_t rows = all.whole ? all.rows.size() : std::min(style.rows, all.rows.size());
  Sheet sheet = shown(all, rows);
  if (!sheet.columns.empty()) spare_columns(sheet, style.width);
  std::vector<size_t> widths = widths_of(sheet, rows);
  if (!widths.empty()) fit(sheet, style.width, widths);
  std::vector<std::string> lines = {sheet.title};
  bool counts = false;
  if (!sheet.rows.empty()) {
    std::vector<Column> columns;
    for (size_t i = 0; i < widths.size(); ++i)
      columns.push_back({sheet.columns[i].title, widths[i], sheet.columns[i].right});
    const Table table(columns);
    lines.push_back(table.header());
    std::vector<std::vector<std::string>> cells(rows);
    for (size_t i = 0; i < widths.size(); ++i) {
      std::vector<std::string> texts;
      for (size_t row = 0; row < rows; ++row) {
        const Cell& cell = sheet.rows[row][i];
        const bool fits =
            sheet.columns[i].right || cell.shorter.empty() || characters(cell.text) <= widths[i];
        texts.push_back(fits ? cell.text : cell.shorter);
        counts = counts || (!fits && cell.counts);
      }
      if (!sheet.columns[i].right) texts = cut_names(texts, widths[i]);
      for (size_t row = 0; row < rows; ++row) cells[row].push_back(std::move(texts[row]));
    }
    for (const std::vector<std::string>& row : cells) lines.push_back(table.row(row));
  }
  if (rows < all.rows.size())
    lines.push_back(fmt::format("{} {} more rows (--rows 0 shows all)", ellipsis(), all.rows.size() - rows));
  if (counts) sheet.notes.emplace_back("+N: N more parts (a wider terminal has them).");
  for (const std::string& note : sheet.notes) {
    for (std::string& line : wrap(note, style.width)) lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> sheet_csv(const Sheet& sheet) {
  std::vector<std::string> lines = {"# " + printable(sheet.title)};
  std::string titles;
  for (size_t i = 0; i < sheet.columns.size(); ++i) {
    const SheetColumn& column = sheet.columns[i];
    const std::string title = column.unit.empty() ? column.title : column.title + " (" + column.unit + ")";
    titles += (i == 0 ? "" : ",") + csv_field(title);
  }
  lines.push_back(titles);
  for (const std::vector<Cell>& row : sheet.rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) line += (i == 0 ? "" : ",") + csv_field(printable(row[i].plain));
    lines.push_back(line);
  }
  return lines;
}

}  // namespace hone::report
