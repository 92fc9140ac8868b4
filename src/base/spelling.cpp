// See spelling.hpp.
#include "base/spelling.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace hone::base {
namespace {

/// Number of edits between the names; 0 if `name` is an abbreviation of `known`.
size_t distance_to(std::string_view name, std::string_view known) {
  constexpr size_t kShortest = 4;
  if (name.size() >= kShortest && known.starts_with(name)) return 0;
  return edit_distance(name, known);
}

}  // namespace

size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows of the table for the last two letters of `a` and for the next one.
  std::vector<size_t> before_last;
  std::vector<size_t> last(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    std::vector<size_t> row(b.size() + 1, i);
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1), last[j] + 1, row[j - 1] + 1});
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = std::exchange(last, std::move(row));
  }
  return last.back();
}

std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> known) {
  if (known.empty()) return std::nullopt;
  const auto nearest = std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
    return distance_to(name, a) < distance_to(name, b);
  });
  // Unrelated words of four letters are only three edits apart, so the limit depends on the length.
  if (distance_to(name, *nearest) > std::min<size_t>(3, name.size() / 3)) return std::nullopt;
  return *nearest;
}

}  // namespace hone::base
