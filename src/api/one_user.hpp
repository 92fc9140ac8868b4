// Detects two threads that use one object at the same time, which would corrupt each other's memory.
#pragma once

#include <atomic>

#include "base/error.hpp"

namespace hone::api {

class OneUser {
 public:
  /// Held by the thread that uses the object.
  class Use {
   public:
    explicit Use(std::atomic<bool>* used) : used_(used) {}
    ~Use() { used_->store(false, std::memory_order_release); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    std::atomic<bool>* used_;
  };

  /// Usage error if another thread holds a Use. `what` is the object's class: "engine".
  Use use(const char* what) {
    if (used_.exchange(true, std::memory_order_acquire))
      fail_usage("another thread uses this {}: each thread needs a context or sequence of its own", what);
    return Use(&used_);
  }

 private:
  std::atomic<bool> used_ = false;
};

}  // namespace hone::api
