// Sets of time: unions, intersections and differences of intervals. Time that several events share counts
// once, and integers make sums exact.
#pragma once

#include <span>
#include <vector>

#include "trace/trace.hpp"

namespace hone::analysis {

using trace::Span;
using trace::Time;

/// Half-open intervals [start, end) in ns, in order, without empty ones and without ones that touch.
using Intervals = std::vector<Span>;

/// Unites intervals in any order, which may overlap; empty and reversed intervals are ignored. O(n log n), or
/// O(n) if they are ordered by start.
Intervals unite(std::vector<Span> spans);

/// The operations below take time linear in the sizes of their arguments.
Intervals unite(const Intervals& a, const Intervals& b);
Intervals intersect(const Intervals& a, const Intervals& b);
/// The part of `a` that is not in `b`.
Intervals subtract(const Intervals& a, const Intervals& b);
/// The part of `a` inside one interval.
Intervals clip(const Intervals& a, Span window);

/// ns.
Time total_length(const Intervals& a);

/// For every window, the length of the part of `a` inside it, ns. The windows must be ordered and must not
/// overlap; some may be empty.
std::vector<Time> lengths_within(const Intervals& a, std::span<const Span> windows);

inline Time length(Span span) { return span.end - span.start; }
/// The common part of two intervals; empty (end == start) when there is none.
Span overlap(Span a, Span b);

}  // namespace hone::analysis
