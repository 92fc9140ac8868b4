// Boxes of a detector's outputs that can be above its threshold, chosen where the outputs were computed, so
// that the host gets these few and not all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tensor/queue.hpp"
#include "tensor/tensor_view.hpp"

namespace hone::engine {

/// How the boxes of an output lie: number n of box b stands
///     b / inner * outer_stride + b % inner * inner_stride + n * number_stride
/// elements after the first one of its image.
struct RowRule {
  int64_t image = 0;  ///< elements of an image's part
  int64_t boxes = 0;
  int64_t numbers = 0;  ///< of a box, as far as they are wanted
  int64_t inner = 1;
  int64_t outer_stride = 0;
  int64_t inner_stride = 0;
  int64_t number_stride = 1;
  /// A box is chosen where one of the numbers `first_gate` to `first_gate + gates - 1` is above the level.
  int64_t first_gate = 0;
  int64_t gates = 1;
  float level = 0;

  int64_t at(int64_t box) const { return box / inner * outer_stride + box % inner * inner_stride; }
  /// True if all of it lies within the image's part.
  bool is_sound() const {
    return boxes > 0 && numbers > 0 && inner > 0 && first_gate >= 0 && gates > 0 &&
           first_gate + gates <= numbers &&
           (boxes - 1) / inner * outer_stride + ((boxes < inner ? boxes : inner) - 1) * inner_stride +
                   (numbers - 1) * number_stride <
               image;
  }
};

/// Where the boxes of an image go: how many were to be chosen, then for each of them its index and its
/// numbers as float, in any order. Words of four bytes.
struct RowList {
  /// More are counted, but not listed.
  static int64_t most(const RowRule& rule) {
    constexpr int64_t kFew = 16;
    constexpr int64_t kMany = 512;
    constexpr int64_t kShare = 8;
    const int64_t share = rule.boxes / kShare;
    return share < kFew ? kFew : share > kMany ? kMany : share;
  }
  static int64_t words(const RowRule& rule) { return 1 + most(rule) * (1 + rule.numbers); }
};

/// Chooses by rules of one network. Used by one thread at a time.
class RowChooser {
 public:
  virtual ~RowChooser() = default;
  /// Hands the work over to the queue, which is null on the host. `output`: images of elements that are
  /// floating point, in the device's memory; `lists`: one for each image after the other.
  virtual void choose(const tensor::TensorView& output, const RowRule& rule, int64_t images, std::byte* lists,
                      const tensor::Queue* queue) const = 0;
};

}  // namespace hone::engine
