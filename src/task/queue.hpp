// Queues of a few places between two stages of a pipeline: who is ahead waits, so memory is bounded.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace hone::task {

/// A queue for one thread that gives and one that takes.
template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(size_t places) : places_(places) {}

  /// Waits for a free place; false, and the item is lost, once somebody has given up.
  bool push(T item) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return items_.size() < places_ || given_up_; });
    if (given_up_) return false;
    items_.push_back(std::move(item));
    // The thread that wakes up shall not find the queue locked.
    lock.unlock();
    changed_.notify_all();
    return true;
  }
  /// Never waits: the oldest item makes room, and is returned. Once somebody has given up the item is lost:
  /// who gives looks at is_given_up(), since nothing else would ever stop it.
  std::optional<T> push_over(T item) {
    const std::lock_guard lock(mutex_);
    std::optional<T> lost;
    if (given_up_) return lost;
    if (items_.size() >= places_) {
      lost = std::move(items_.front());
      items_.pop_front();
    }
    items_.push_back(std::move(item));
    changed_.notify_all();
    return lost;
  }
  /// Waits for an item; none once the queue is closed and empty, or somebody has given up.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !items_.empty() || closed_ || given_up_; });
    if (given_up_ || items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return item;
  }
  /// Nothing comes any more.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  /// A stage has failed: nobody waits any more.
  void give_up() {
    const std::lock_guard lock(mutex_);
    given_up_ = true;
    changed_.notify_all();
  }
  bool is_given_up() {
    const std::lock_guard lock(mutex_);
    return given_up_;
  }
  /// Waits until then, or until somebody gives up, and returns whether that happened.
  template <class TimePoint>
  bool is_given_up_by(TimePoint time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, time, [this] { return given_up_; });
  }

 private:
  size_t places_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> items_;
  bool closed_ = false;
  bool given_up_ = false;
};

/// A queue for each stream of a stage. Items go to them in turns, so those that are taken in turns have kept
/// their order, however long each took.
template <class T>
class Lanes {
 public:
  /// `places`: of each lane.
  Lanes(size_t lanes, size_t places) {
    for (size_t i = 0; i < lanes; ++i) lanes_.emplace_back(places);
  }

  BoundedQueue<T>& lane(size_t index) { return lanes_[index]; }
  /// The lane of the next item. Used by the thread that gives.
  size_t turn() const { return given_ % lanes_.size(); }
  bool push(T item) { return lanes_[given_++ % lanes_.size()].push(std::move(item)); }
  /// Used by the thread that takes. A lane that has ended in its turn has no later item in the others.
  std::optional<T> pop() { return lanes_[taken_++ % lanes_.size()].pop(); }
  void close() {
    for (BoundedQueue<T>& lane : lanes_) lane.close();
  }
  void give_up() {
    for (BoundedQueue<T>& lane : lanes_) lane.give_up();
  }

 private:
  std::deque<BoundedQueue<T>> lanes_;
  size_t given_ = 0;
  size_t taken_ = 0;
};

}  // namespace hone::task
