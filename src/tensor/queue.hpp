// A queue of work at a place, such as a stream of a GPU: what is handed to it runs in order.
#pragma once

#include <memory>

#include "tensor/place.hpp"

namespace hone::tensor {

/// A moment in a queue: it has passed when everything handed over before it has run.
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
  /// Waits until everything that was handed over has run.
  virtual void synchronize() const = 0;
  /// The moment that it has come to.
  virtual std::shared_ptr<const Event> record() const = 0;
  /// Work that is handed over from now on runs after the event, which may be another queue's of the same kind
  /// of place.
  virtual void wait(const Event& event) const = 0;
  /// True if work that is handed over is recorded as part of a graph, to run whenever that is launched.
  virtual bool is_capturing() const = 0;
};

}  // namespace hone::tensor
