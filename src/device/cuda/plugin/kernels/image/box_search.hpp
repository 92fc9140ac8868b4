// Decodes a detector's outputs and suppresses overlapping boxes, so that only the remaining boxes are copied
// to the host. The host follows the same rules (engine/box_rule.hpp).
//
//     outputs                 candidates of an image           its list
//     head 0  x y w h o c c   5                                2
//     head 1  x y w h o c c   box score class order            box score class     the best first
//             one launch      ...                              box score class
//             for each head   in any order              one block for each image sorts and suppresses
//
// Candidates are sorted by score, then by the order in which the host would meet them, so that the result
// does not depend on the order in which threads append them.
#pragma once

#include <cstdint>

#include "device/cuda/plugin/kernels/common/launch_options.hpp"
#include "engine/box_rule.hpp"

namespace hone::device::cuda {

/// All pointers point to device memory, also those in the head.
struct BoxDecoding {
  engine::BoxHead head;
  uint32_t first_order = 0;  ///< order of the head's first answer, after those of earlier heads
  int64_t images = 1;
  const engine::BoxPlace* places = nullptr;     ///< one for each image
  engine::BoxCandidates* candidates = nullptr;  ///< one for each image
};

/// Appends the answers of a head to the candidates, in pixels of their image.
cudaError_t decode_boxes(const BoxDecoding& decoding, const void* output, FloatType type,
                         const LaunchOptions& options);

struct BoxSuppression {
  engine::BoxSelection selection;
  int64_t images = 1;
  const engine::BoxPlace* places = nullptr;
  engine::BoxCandidates* candidates = nullptr;
  void* lists = nullptr;  ///< an engine::BoxList for each image
};

/// Fills the lists and resets the candidates' counts to
/// zero. `most` must not exceed the room for candidates.
cudaError_t suppress_boxes(const BoxSuppression& suppression, const LaunchOptions& options);

}  // namespace hone::device::cuda
