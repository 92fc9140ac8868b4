// Named ranges of work, announced to whoever listens in this process: how an engine announces its steps to a
// profiler without knowing of profilers.
#pragma once

#include <string>

namespace hone::base {

class RangeListener {
 public:
  virtual ~RangeListener() = default;
  /// Called by the thread that does the work; ranges of a thread nest.
  virtual void begin(const std::string& name) = 0;
  virtual void end() = 0;
};

/// Null: nobody listens. The listener must live until another one or null takes its place, and no range may
/// be open then.
void listen_to_ranges(RangeListener* listener);
RangeListener* range_listener();

/// Open as long as it lives; costs one load when nobody listens.
class Range {
 public:
  explicit Range(const std::string& name) : listener_(range_listener()) {
    if (listener_ != nullptr) listener_->begin(name);
  }
  ~Range() {
    if (listener_ != nullptr) listener_->end();
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  RangeListener* listener_;
};

}  // namespace hone::base
