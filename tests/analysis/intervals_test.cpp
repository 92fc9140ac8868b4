// Sets of time against the same operations on a field of single nanoseconds.
#include "analysis/intervals.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "base/random.hpp"

namespace hone::analysis {
namespace {

constexpr size_t kField = 64;
using Field = std::array<bool, kField>;

std::vector<Span> random_spans(base::Random& random) {
  std::vector<Span> spans(random.below(12));
  for (Span& span : spans) {
    span.start = static_cast<Time>(random.below(kField));
    span.end = std::min<Time>(kField, span.start + static_cast<Time>(random.below(9)) - 1);
  }
  return spans;
}

Field field_of(const std::vector<Span>& spans) {
  Field field{};
  for (const Span& span : spans)
    for (Time t = span.start; t < span.end; ++t) field.at(static_cast<size_t>(t)) = true;
  return field;
}

/// Ordered, not empty, not touching, and covering exactly the field.
void expect_covers(const Intervals& intervals, const Field& field) {
  EXPECT_EQ(field_of(intervals), field);
  for (size_t i = 0; i < intervals.size(); ++i) {
    EXPECT_LT(intervals[i].start, intervals[i].end);
    if (i > 0) {
      EXPECT_GT(intervals[i].start, intervals[i - 1].end);
    }
  }
}

TEST(Intervals, AgreeWithAFieldOfNanoseconds) {
  base::Random random(1);
  for (int round = 0; round < 2000; ++round) {
    const std::vector<Span> a = random_spans(random);
    const std::vector<Span> b = random_spans(random);
    const Field in_a = field_of(a);
    const Field in_b = field_of(b);
    Field either{};
    Field both{};
    Field only_a{};
    for (size_t i = 0; i < kField; ++i) {
      either.at(i) = in_a.at(i) || in_b.at(i);
      both.at(i) = in_a.at(i) && in_b.at(i);
      only_a.at(i) = in_a.at(i) && !in_b.at(i);
    }
    const Intervals left = unite(a);
    const Intervals right = unite(b);
    expect_covers(left, in_a);
    expect_covers(unite(left, right), either);
    expect_covers(intersect(left, right), both);
    expect_covers(subtract(left, right), only_a);
    EXPECT_EQ(total_length(left), std::count(in_a.begin(), in_a.end(), true));
    EXPECT_EQ(total_length(intersect(left, right)) + total_length(subtract(left, right)), total_length(left));
  }
}

TEST(Intervals, ClipAndWindowsAgreeWithIntersections) {
  base::Random random(2);
  for (int round = 0; round < 500; ++round) {
    const Intervals a = unite(random_spans(random));
    std::vector<Span> windows;
    for (Time start = 0; start < static_cast<Time>(kField);) {
      const Time end = start + static_cast<Time>(random.below(20));
      windows.push_back({start, end});
      start = end + static_cast<Time>(random.below(3));
    }
    const std::vector<Time> lengths = lengths_within(a, windows);
    for (size_t i = 0; i < windows.size(); ++i) {
      const Intervals part = intersect(a, unite({windows[i]}));
      EXPECT_EQ(lengths[i], total_length(part));
      EXPECT_EQ(total_length(clip(a, windows[i])), total_length(part));
    }
  }
}

TEST(Intervals, TouchingOnesBecomeOne) {
  const Intervals joined = unite({{5, 8}, {1, 5}, {8, 8}, {9, 7}});
  ASSERT_EQ(joined.size(), 1U);
  EXPECT_EQ(joined[0].start, 1);
  EXPECT_EQ(joined[0].end, 8);
  EXPECT_EQ(length(overlap({1, 2}, {5, 8})), 0);
}

}  // namespace
}  // namespace hone::analysis
