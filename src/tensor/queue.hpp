// A queue of work at a place, such as a stream of a GPU: submitted work runs in order.
#pragma once

#include <memory>

#include "tensor/place.hpp"

namespace hone::tensor {

/// A point in a queue; it has passed when everything submitted before it has finished.
class Event {
 public:
  virtual ~Event() = default;
  /// Returns when it has passed.
  virtual void wait() const = 0;
  virtual bool has_passed() const = 0;
};

class Queue {
 public:
  virtual ~Queue() = default;
  virtual Place place() const = 0;
  /// Waits until all submitted work has finished.
  virtual void synchronize() const = 0;
  /// Records the current end of the queue.
  virtual std::shared_ptr<const Event> record() const = 0;
  /// Makes work that is submitted from now on wait for the event, which may belong to another queue at the
  /// same kind of place.
  virtual void wait(const Event& event) const = 0;
  /// True if submitted work is recorded as part of a graph, which runs when the graph is launched.
  virtual bool is_capturing() const = 0;
};

}  // namespace hone::tensor
