// From a detector's outputs to the boxes that stay: decoding and non-maximum suppression, so that nothing
// else comes to the host. The rules are engine/box_rule.hpp's, which the host follows, too.
//
//     outputs                 candidates of an image           its list
//     head 0  x y w h o c c   5                                2
//     head 1  x y w h o c c   box score class order            box score class     the best first
//             one launch      ...                              box score class
//             for each head   in any order              one block for each image sorts and suppresses
//
// Candidates are sorted by score and by the order in which the host meets them, so that what is found does
// not depend on the order in which threads list them.
#pragma once

#include <cstdint>

#include "device/cuda/plugin/kernels/common/launch_options.hpp"
#include "engine/box_rule.hpp"

namespace hone::device::cuda {

/// All pointers are to device memory, those of the head included.
struct BoxDecoding {
  engine::BoxHead head;
  uint32_t first_order = 0;  ///< of the head's answers, after those of the heads before
  int64_t images = 1;
  const engine::BoxPlace* places = nullptr;     ///< of each image
  engine::BoxCandidates* candidates = nullptr;  ///< of each image
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

/// Fills the lists, and leaves counts of zero in the candidates. `most` is no more than candidates have room
/// for.
cudaError_t suppress_boxes(const BoxSuppression& suppression, const LaunchOptions& options);

}  // namespace hone::device::cuda
