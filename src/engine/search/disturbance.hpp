// Notices other work that disturbs the times of a search.
#pragma once

#include "engine/kernel.hpp"

namespace hone::engine {

/// Watches from the time when it is made.
class Disturbance {
 public:
  /// The device outlives it.
  explicit Disturbance(const Device& device) : device_(device), before_(device.others_use()) {}

  /// True if others used more than 5 % of the device's processors, the share above which a benchmark's run is
  /// INVALID.
  bool was_seen() const;

 private:
  const Device& device_;
  OthersUse before_;
};

/// Looks for a fifth of a second.
bool is_quiet(const Device& device);

}  // namespace hone::engine
