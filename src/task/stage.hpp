// One stage of a pipeline: takes items from a queue, processes them, passes them to the next queue, and
// measures how its time was spent.
#pragma once

#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "task/pipeline_report.hpp"
#include "task/queue.hpp"

namespace hone::task {

/// The first failure of any stage; it ends all stages.
class Failure {
 public:
  void keep(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

/// Counts consecutive frames; `first` is the number of the first one.
inline void count_busy(int64_t first, size_t frames, base::Clock::time_point begun,
                       base::Clock::time_point done, StageTimes* times) {
  const double seconds = base::seconds_between(begun, done);
  times->busy_seconds.insert(times->busy_seconds.end(), frames, seconds / static_cast<double>(frames));
  if (!times->keeps_spans) return;
  const auto ns = [](base::Clock::time_point time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
  };
  times->spans.push_back({first, static_cast<int64_t>(frames), ns(begun), ns(done)});
}

/// The loop of the stage's thread; it returns when no more items come. `in` and `out` are queues or lanes;
/// `out` is null for the last stage. `work` changes the batch in place.
template <class Batch, class In, class Out>
void run_stage(StageTimes* times, In& in, Out* out, const std::function<void(Batch*)>& work) {
  while (true) {
    const auto asked = base::Clock::now();
    std::optional<Batch> batch = in.pop();
    const auto begun = base::Clock::now();
    times->waits_input += base::seconds_between(asked, begun);
    if (!batch) break;
    const size_t frames = batch->items.size();
    const int64_t first = batch->items.front().result.frame;
    work(&*batch);
    const auto done = base::Clock::now();
    count_busy(first, frames, begun, done, times);
    if (out == nullptr) continue;
    if (!out->push(std::move(*batch))) break;
    times->waits_output += base::seconds_since(done);
  }
  if (out != nullptr) out->close();
}

}  // namespace hone::task
