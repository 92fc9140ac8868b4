// Detects other work that disturbs the times of a search.
#pragma once

#include "engine/kernel.hpp"

namespace hone::engine {

/// Observes from its construction on.
class Disturbance {
 public:
  /// The device must outlive it.
  explicit Disturbance(const Device& device) : device_(device), before_(device.others_use()) {}

  /// True if other processes used more than 5 % of the device's processors, which is also the limit above
  /// which a benchmark's run is INVALID.
  bool was_seen() const;

 private:
  const Device& device_;
  OthersUse before_;
};

/// Observes the device for a fifth of a second.
bool is_quiet(const Device& device);

}  // namespace hone::engine
