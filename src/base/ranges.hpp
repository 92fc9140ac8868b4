// Named ranges of work that are announced to a listener in this process: an engine announces its steps in
// this way, without depending on profilers.
#pragma once

#include <string>

namespace hone::base {

class RangeListener {
 public:
  virtual ~RangeListener() = default;
  /// Called by the thread that does the work; ranges of a thread are nested.
  virtual void begin(const std::string& name) = 0;
  virtual void end() = 0;
};

/// Sets the listener; null: none. It must live until it is replaced, and no range may be open then.
void listen_to_ranges(RangeListener* listener);
RangeListener* range_listener();

/// Open during its lifetime; without a listener it costs one load.
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
