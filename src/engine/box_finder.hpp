// Decodes and suppresses the boxes of a detector on the device that computed its outputs, so that only the
// few remaining boxes are copied to the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/box_rule.hpp"
#include "tensor/queue.hpp"
#include "tensor/tensor_view.hpp"

namespace hone::engine {

/// The operands of one search. Pointers refer to memory of the device.
struct BoxSearch {
  std::span<const tensor::TensorView> outputs;  ///< of each head
  int64_t images = 1;
  const BoxPlace* places = nullptr;  ///< of each image
  BoxSelection selection;
  BoxCandidates* candidates =
      nullptr;                 ///< for each image; counts must be zero before, and are zero again afterwards
  std::byte* lists = nullptr;  ///< one BoxList for each image, one after the other
};

/// Finds the boxes of one network's heads. Used by one thread at a time.
class BoxFinder {
 public:
  virtual ~BoxFinder() = default;
  /// Submits the work to the queue, which is null on the host.
  virtual void find(const BoxSearch& search, const tensor::Queue* queue) const = 0;
};

}  // namespace hone::engine
