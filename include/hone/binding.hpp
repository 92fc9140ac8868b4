// Plain types for bindings: outputs that use the memory of inputs, and counts for views that were not bound.
// The library itself uses them too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hone {

/// An output that uses the whole memory of an input, such as a cache that is updated in place.
struct Alias {
  size_t output = 0;
  size_t input = 0;
};

struct BindOptions {
  std::vector<Alias> aliases;
};

/// Counts of a context's bindings and copies for views that were not bound.
struct ViewCounts {
  int64_t bindings = 0;
  int64_t copies = 0;  ///< of inputs and outputs
  int64_t copied_bytes = 0;
};

}  // namespace hone
