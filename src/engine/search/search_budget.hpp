// The time limit of a tactic search, and reports of its progress.
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
  /// A budget that begins now, with this share of the remaining time.
  SearchBudget part(double share) const { return SearchBudget(left() * share); }
  /// A budget that begins now, with at most `seconds`.
  SearchBudget at_most(double seconds) const { return SearchBudget(std::min(left(), seconds)); }

 private:
  double seconds_;
  base::Clock::time_point begin_;
};

/// Reports the progress of a search to a listener.
class SearchProgress {
 public:
  using Listener = std::function<void(const base::Progress&)>;

  /// Both arguments must outlive it; the listener may be empty.
  SearchProgress(const Listener& listener, const SearchBudget& budget)
      : listener_(listener), budget_(budget), begin_(base::Clock::now()) {}

  /// `left_seconds` is an estimate of the remaining time, if there is one; it is limited by the budget.
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
