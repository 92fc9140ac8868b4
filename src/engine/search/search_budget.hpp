// The time that a tactic search may take, and its progress against it.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <string>

#include "base/clock.hpp"
#include "base/progress.hpp"

namespace hone::engine {

class SearchBudget {
 public:
  static constexpr double kNoLimit = std::numeric_limits<double>::infinity();

  /// `seconds` count from `begin`.
  explicit SearchBudget(double seconds, base::Clock::time_point begin = base::Clock::now())
      : seconds_(seconds), begin_(begin) {}

  bool is_limited() const { return seconds_ < kNoLimit; }
  double seconds() const { return seconds_; }
  double left() const { return seconds_ - base::seconds_since(begin_); }
  bool is_over() const { return left() <= 0; }
  /// A budget that begins now and has this share of the rest.
  SearchBudget part(double share) const { return SearchBudget(left() * share); }
  /// One that begins now and has `seconds` at most.
  SearchBudget at_most(double seconds) const { return SearchBudget(std::min(left(), seconds)); }

 private:
  double seconds_;
  base::Clock::time_point begin_;
};

/// Tells who waits for a search how far it is.
class SearchProgress {
 public:
  using Listener = std::function<void(const base::Progress&)>;

  /// Both outlive it; the listener may be empty.
  SearchProgress(const Listener& listener, const SearchBudget& budget)
      : listener_(listener), budget_(budget), begin_(base::Clock::now()) {}

  /// `left_seconds`: what is still to do, where that can be said; the budget bounds it.
  void report(const std::string& doing, double left_seconds = SearchBudget::kNoLimit) const {
    if (!listener_) return;
    listener_({base::seconds_since(begin_), std::max(0.0, std::min(left_seconds, budget_.left())), doing});
  }

 private:
  const Listener& listener_;
  const SearchBudget& budget_;
  base::Clock::time_point begin_;
};

}  // namespace hone::engine
