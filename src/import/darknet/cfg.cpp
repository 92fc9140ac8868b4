// See cfg.hpp.
#include "import/darknet/cfg.hpp"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "import/darknet/limits.hpp"

namespace hone::importer::darknet {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string without_blanks(std::string_view line) {
  std::string result;
  for (const char c : line) {
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') result += c;
  }
  return result;
}

/// For messages: shortens a line of a file with unknown content.
std::string shortened(std::string_view text) {
  constexpr size_t kLongest = 60;
  return text.size() <= kLongest ? std::string(text) : fmt::format("{}…", text.substr(0, kLongest));
}

Section parse_header(const std::string& line, int number) {
  if (line.size() < 3 || line.back() != ']')
    fail_bad_input("line {}: '{}' is no section, which is a name in brackets", number, shortened(line));
  return {line.substr(1, line.size() - 2), number, {}};
}

void parse_option(const std::string& line, int number, Section* section, std::vector<std::string>* warnings) {
  const size_t equals = line.find('=');
  if (equals == std::string::npos) return section->options.push_back({line, std::nullopt, number});
  if (equals + 1 == line.size())
    return warnings->push_back(
        fmt::format("line {}: '{}' has no value: the default counts", number, shortened(line)));
  section->options.push_back({line.substr(0, equals), line.substr(equals + 1), number});
}

}  // namespace

std::vector<Section> parse_cfg(std::string_view text, std::vector<std::string>* warnings) {
  if (text.find('\0') != std::string_view::npos) fail_bad_input("this is no text");
  std::vector<Section> sections;
  int number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = without_blanks(text.substr(begin, end - begin));
    begin = end + 1;
    ++number;
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (line[0] == '[') {
      if (sections.size() == kMaxSections) fail_bad_input("it has more than {} sections", kMaxSections);
      sections.push_back(parse_header(line, number));
      continue;
    }
    if (sections.empty())
      fail_bad_input("line {}: the option '{}' stands before any section", number, shortened(line));
    parse_option(line, number, &sections.back(), warnings);
  }
  return sections;
}

int parse_int(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int64_t value = 0;
  for (const char c : text) {
    if (!is_digit(c)) break;
    value = 10 * value + (c - '0');
    if (value > int64_t{std::numeric_limits<int>::max()} + (negative ? 1 : 0))
      fail_bad_input("the number '{}{}' is out of range", negative ? "-" : "", shortened(text));
  }
  return static_cast<int>(negative ? -value : value);
}

double parse_number(std::string_view text) {
  const std::string_view whole = text;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument) return 0;
  if (error == std::errc::result_out_of_range || !std::isfinite(value))
    fail_bad_input("the number '{}' is out of range", shortened(whole));
  return value;
}

}  // namespace hone::importer::darknet
