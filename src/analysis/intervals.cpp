// See intervals.hpp.
#include "analysis/intervals.hpp"

#include <algorithm>

namespace hone::analysis {
namespace {

bool starts_before(const Span& a, const Span& b) { return a.start < b.start; }

/// Appends an interval that starts no earlier than the last one.
void append(Intervals& result, Span span) {
  if (span.end <= span.start) return;
  if (result.empty() || span.start > result.back().end) {
    result.push_back(span);
    return;
  }
  result.back().end = std::max(result.back().end, span.end);
}

}  // namespace

Span overlap(Span a, Span b) {
  const Time start = std::max(a.start, b.start);
  return {start, std::max(start, std::min(a.end, b.end))};
}

Intervals unite(std::vector<Span> spans) {
  if (!std::is_sorted(spans.begin(), spans.end(), starts_before))
    std::sort(spans.begin(), spans.end(), starts_before);
  Intervals result;
  for (const Span& span : spans) append(result, span);
  return result;
}

Intervals unite(const Intervals& a, const Intervals& b) {
  Intervals merged(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), merged.begin(), starts_before);
  return unite(std::move(merged));
}

Intervals intersect(const Intervals& a, const Intervals& b) {
  Intervals result;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    append(result, overlap(a[i], b[j]));
    if (a[i].end < b[j].end) {
      ++i;
    } else {
      ++j;
    }
  }
  return result;
}

Intervals subtract(const Intervals& a, const Intervals& b) {
  Intervals result;
  size_t j = 0;
  for (Span left : a) {
    while (j < b.size() && b[j].end <= left.start) ++j;
    for (size_t k = j; k < b.size() && b[k].start < left.end; ++k) {
      append(result, {left.start, b[k].start});
      left.start = std::max(left.start, b[k].end);
      j = k;
    }
    append(result, left);
  }
  return result;
}

Intervals clip(const Intervals& a, Span window) {
  const auto first = std::partition_point(a.begin(), a.end(),
                                          [&window](const Span& span) { return span.end <= window.start; });
  Intervals result;
  for (auto it = first; it != a.end() && it->start < window.end; ++it) append(result, overlap(*it, window));
  return result;
}

Time total_length(const Intervals& a) {
  Time sum = 0;
  for (const Span& span : a) sum += length(span);
  return sum;
}

std::vector<Time> lengths_within(const Intervals& a, std::span<const Span> windows) {
  std::vector<Time> result(windows.size(), 0);
  size_t j = 0;
  for (size_t i = 0; i < windows.size(); ++i) {
    while (j < a.size() && a[j].end <= windows[i].start) ++j;
    for (size_t k = j; k < a.size() && a[k].start < windows[i].end; ++k) {
      result[i] += length(overlap(a[k], windows[i]));
      j = k;
    }
  }
  return result;
}

}  // namespace hone::analysis
