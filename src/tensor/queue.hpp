// A queue of work at a place, such as a stream of a GPU: what is handed to it runs in order.
#pragma once

namespace hone::tensor {

class Queue {
 public:
  virtual ~Queue() = default;
  /// Waits until everything that was handed over has run.
  virtual void synchronize() const = 0;
};

}  // namespace hone::tensor
