// Boxes of a detector's outputs, decoded and suppressed where the outputs were computed, so that the host
// gets these few and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/box_rule.hpp"
#include "tensor/queue.hpp"
#include "tensor/tensor_view.hpp"

namespace hone::engine {

/// The operands of one search. Pointers are to memory of the device.
struct BoxSearch {
  std::span<const tensor::TensorView> outputs;  ///< of each head
  int64_t images = 1;
  const BoxPlace* places = nullptr;  ///< of each image
  BoxSelection selection;
  BoxCandidates* candidates = nullptr;  ///< of each image; counts of zero before, and afterwards again
  std::byte* lists = nullptr;           ///< a BoxList for each image after the other
};

/// Finds the boxes of one network's heads. Used by one thread at a time.
class BoxFinder {
 public:
  virtual ~BoxFinder() = default;
  /// Hands the work over to the queue, which is null on the host.
  virtual void find(const BoxSearch& search, const tensor::Queue* queue) const = 0;
};

}  // namespace hone::engine
