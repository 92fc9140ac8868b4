// See line_diff.hpp.
#include "cases/line_diff.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

namespace hone::test {
namespace {

using Lines = std::vector<std::string>;

Lines split(const std::string& text) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// common[i][j]: lines that the rests of a from i on and of b from j on have in common.
std::vector<std::vector<int>> common_lines(const Lines& a, const Lines& b) {
  std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1, 0));
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;) {
      common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  return common;
}

}  // namespace

std::string line_diff(const std::string& expected, const std::string& actual) {
  const Lines a = split(expected);
  const Lines b = split(actual);
  const auto common = common_lines(a, b);
  std::string text;
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      text += "  " + a[i++] + "\n";
      ++j;
    } else if (j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1])) {
      text += "- " + a[i++] + "\n";
    } else {
      text += "+ " + b[j++] + "\n";
    }
  }
  return text;
}

}  // namespace hone::test
