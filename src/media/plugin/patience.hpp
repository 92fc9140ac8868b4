// Cancels calls of FFmpeg that wait too long for a stream, or when the user stops the program.
#pragma once

#include "base/clock.hpp"
#include "media/plugin/libav.hpp"
#include "media/source.hpp"

namespace hone::media {

class Patience {
 public:
  /// `can_stall`: the source is a network stream, a pipe or a camera, for which the time-out counts.
  Patience(const SourceOptions& options, bool can_stall) : options_(options), can_stall_(can_stall) {}

  AVIOInterruptCB callback() {
    return {[](void* self) { return static_cast<Patience*>(self)->is_over() ? 1 : 0; }, this};
  }
  /// Call it before each call that may wait.
  void begin() { since_ = base::Clock::now(); }
  bool timed_out() const { return timed_out_; }
  bool stopped() const { return options_.stop != nullptr && *options_.stop; }
  bool is_over() {
    if (stopped()) return true;
    if (can_stall_ && base::seconds_since(since_) > options_.timeout_seconds) timed_out_ = true;
    return timed_out_;
  }

 private:
  SourceOptions options_;
  bool can_stall_;
  bool timed_out_ = false;
  base::Clock::time_point since_ = base::Clock::now();
};

}  // namespace hone::media
