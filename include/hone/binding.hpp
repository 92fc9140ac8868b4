// Plain types that describe bindings: how outputs may lie in inputs, and what a context did for views that
// nobody bound. The library's own parts use it too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hone {

/// An output that is in the memory of an input, in all of it: a cache that is changed in place.
struct Alias {
  size_t output = 0;
  size_t input = 0;
};

struct BindOptions {
  std::vector<Alias> aliases;
};

/// Counts of a context's bindings and copies for views that nobody bound.
struct ViewCounts {
  int64_t bindings = 0;
  int64_t copies = 0;  ///< of inputs and outputs
  int64_t copied_bytes = 0;
};

}  // namespace hone
