// Bounded queues between the stages of a pipeline: a stage that is too fast waits, so memory is bounded.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace hone::task {

/// A queue with one producer thread and one consumer thread.
template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(size_t places) : places_(places) {}

  /// Waits for a free place. Returns false and drops the item if one side has given up.
  bool push(T item) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return items_.size() < places_ || given_up_; });
    if (given_up_) return false;
    items_.push_back(std::move(item));
    // Unlocks first, so that the woken thread does not find the mutex locked.
    lock.unlock();
    changed_.notify_all();
    return true;
  }
  /// Never waits: if the queue is full, it removes and returns the oldest item. After one side has given up,
  /// the item is dropped; the producer must check is_given_up(), because nothing else stops it.
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
  /// Waits for an item. Returns nothing if the queue is closed and empty, or if one side has given up.
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
  /// Marks the end: no more items will come.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  /// Wakes all waiting threads after a stage has failed.
  void give_up() {
    const std::lock_guard lock(mutex_);
    given_up_ = true;
    changed_.notify_all();
  }
  bool is_given_up() {
    const std::lock_guard lock(mutex_);
    return given_up_;
  }
  /// Waits until this time or until one side gives up; returns whether one did.
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

/// One queue for each stream of a stage. Items are distributed in turns and taken in the same turns, so their
/// order is kept even if some take longer.
template <class T>
class Lanes {
 public:
  /// `places` is the capacity of each lane.
  Lanes(size_t lanes, size_t places) {
    for (size_t i = 0; i < lanes; ++i) lanes_.emplace_back(places);
  }

  BoundedQueue<T>& lane(size_t index) { return lanes_[index]; }
  /// The lane of the next item. Called from the producer thread.
  size_t turn() const { return given_ % lanes_.size(); }
  bool push(T item) { return lanes_[given_++ % lanes_.size()].push(std::move(item)); }
  /// Called from the consumer thread. If the lane whose turn it is has ended, no other lane holds a later
  /// item.
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
