// The rules by which a detector's outputs become boxes and boxes are suppressed: plain numbers, and functions
// that both the host and GPU kernels call, so that both find the same boxes.
//
// Arithmetic is in float, and kernels must be compiled without fused multiply-adds. Exponentials, powers and
// cosines are computed in double and rounded; then two math libraries give the same float, except in about
// one of 2^28 cases, where the last bit may differ.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.hpp"

namespace hone::engine {

/// Corners in pixels; right and bottom are exclusive.
struct Box {
  float x1 = 0;
  float y1 = 0;
  float x2 = 0;
  float y2 = 0;

  HONE_HOST_DEVICE float width() const { return x2 - x1; }
  HONE_HOST_DEVICE float height() const { return y2 - y1; }
};

struct FoundBox {
  Box box;
  float score = 0;
  int32_t label = -1;  ///< index of the class; -1: no detection
};

/// The positions of the boxes of an output. Number n of box b is at offset
///     b / inner * outer_stride + b % inner * inner_stride + n * number_stride
/// in elements, from the first element of its image.
struct RowRule {
  int64_t image = 0;  ///< number of elements of one image's part
  int64_t boxes = 0;
  int64_t numbers = 0;  ///< of a box, as far as they are needed
  int64_t inner = 1;
  int64_t outer_stride = 0;
  int64_t inner_stride = 0;
  int64_t number_stride = 1;
  /// A box can only be above the threshold if one of the numbers `first_gate` to `first_gate + gates - 1` is
  /// above the level.
  int64_t first_gate = 0;
  int64_t gates = 1;
  float level = 0;

  HONE_HOST_DEVICE int64_t at(int64_t box) const {
    return box / inner * outer_stride + box % inner * inner_stride;
  }
  /// True if all positions are inside the image's part.
  bool is_sound() const {
    return boxes > 0 && numbers > 0 && inner > 0 && first_gate >= 0 && gates > 0 &&
           first_gate + gates <= numbers &&
           (boxes - 1) / inner * outer_stride + ((boxes < inner ? boxes : inner) - 1) * inner_stride +
                   (numbers - 1) * number_stride <
               image;
  }
};

/// The numbers of one box.
template <class T>
struct BoxNumbers {
  const T* first;
  int64_t step;

  HONE_HOST_DEVICE float operator[](int64_t index) const { return static_cast<float>(first[index * step]); }
};

enum class BoxForm : int32_t {
  kPixels,  ///< centre and sides in pixels of the input: YOLOv5 and YOLOv8
  kCells,   ///< relative to cells of the strides 8, 16, 32 and 64: YOLOX
  kLogits,  ///< of a grid, before the sigmoid: YOLOv7
  kDarknet  ///< of a grid, relative to the input
};

/// The point of a box that x and y give.
enum class BoxPoint : int32_t { kCentre, kLeftTop, kRightBottom };

/// An output, and the meaning of its boxes' numbers. Boxes of a grid are numbered by anchor, and for each
/// anchor row by row.
struct BoxHead {
  RowRule rows;
  BoxForm form = BoxForm::kPixels;
  float threshold = 0;  ///< only scores above it count
  int64_t classes = 0;
  int64_t first_class = 0;
  int64_t object = -1;  ///< index of the objectness score; -1: there is none
  int64_t angle = -1;   ///< index of the angle by which a box is rotated; -1: none
  bool all_classes =
      false;  ///< every class above the threshold is a detection, not only the most probable one
  int32_t input_width = 0;
  int32_t input_height = 0;
  // Used only for kLogits and kDarknet.
  int32_t columns = 0;
  int32_t lines = 0;
  int32_t anchor_count = 0;
  const float* anchors = nullptr;  ///< a width and a height for each anchor
  // Used only for kDarknet.
  bool anchors_in_cells = false;
  bool squares = false;    ///< sides are squares, not exponentials
  bool uncertain = false;  ///< each of x, y, width and height is followed by its uncertainty
  BoxPoint point = BoxPoint::kCentre;
};

/// Maps coordinates of a head's boxes to pixels of an image: first multiplies by the factors, then inverts
/// the mapping of the image into the input.
struct BoxPlace {
  float x_factor = 1;
  float y_factor = 1;
  float image_width = 0;
  float image_height = 0;
  double x_shift = 0;
  double y_shift = 0;
  double x_scale = 1;
  double y_scale = 1;
};

/// Non-maximum suppression, and the steps after it.
struct BoxSelection {
  float overlap = 0;  ///< a box is removed if it overlaps a better one of its class by more than this
  /// Subtracts from the overlap the distance of the centres, relative to the diagonal of the rectangle around
  /// both boxes, to this power.
  bool by_distance = false;
  float distance_power = 1;
  int64_t most = 0;    ///< number of boxes to keep, those with the highest scores
  bool clips = false;  ///< clip boxes to the image
};

namespace box {

HONE_HOST_DEVICE bool is_finite(float x) { return x - x == 0; }
HONE_HOST_DEVICE float smaller(float a, float b) { return b < a ? b : a; }
HONE_HOST_DEVICE float larger(float a, float b) { return a < b ? b : a; }
HONE_HOST_DEVICE float exponential(float x) { return static_cast<float>(exp(static_cast<double>(x))); }
HONE_HOST_DEVICE float sigmoid(float x) { return 1 / (1 + exponential(-x)); }

HONE_HOST_DEVICE Box from_centre(float x, float y, float width, float height) {
  return {x - width / 2, y - height / 2, x + width / 2, y + height / 2};
}

/// Returns the axis-aligned box around a box that is rotated by an angle in radians.
HONE_HOST_DEVICE Box around(const Box& box, float angle) {
  const float x = (box.x1 + box.x2) / 2;
  const float y = (box.y1 + box.y2) / 2;
  const auto across = static_cast<float>(fabs(cos(static_cast<double>(angle))));
  const auto along = static_cast<float>(fabs(sin(static_cast<double>(angle))));
  return from_centre(x, y, box.width() * across + box.height() * along,
                     box.width() * along + box.height() * across);
}

template <class Numbers>
HONE_HOST_DEVICE bool passes_gates(const RowRule& rows, const Numbers& numbers) {
  for (int64_t i = 0; i < rows.gates; ++i)
    if (numbers[rows.first_gate + i] > rows.level) return true;
  return false;
}

template <class Numbers>
HONE_HOST_DEVICE float object_score(const BoxHead& head, const Numbers& numbers) {
  const float object = numbers[head.object];
  return head.form == BoxForm::kLogits ? sigmoid(object) : object;
}

/// The number of possible detections of a box.
template <class Numbers>
HONE_HOST_DEVICE int64_t answer_count(const BoxHead& head, const Numbers& numbers) {
  if (head.object >= 0 && !(object_score(head, numbers) > head.threshold)) return 0;
  return head.all_classes ? head.classes : 1;
}

/// The first of the highest scores; NaN is ignored.
template <class Numbers>
HONE_HOST_DEVICE FoundBox likeliest(const BoxHead& head, const Numbers& numbers) {
  FoundBox best{{}, -INFINITY, 0};
  for (int64_t i = 0; i < head.classes; ++i) {
    const float score = numbers[head.first_class + i];
    if (!(score > best.score)) continue;
    best.score = score;
    best.label = static_cast<int32_t>(i);
  }
  return best;
}

/// The mean certainty of the four numbers of a box.
template <class Numbers>
HONE_HOST_DEVICE float certainty(const Numbers& numbers) {
  return 1 - (numbers[1] + numbers[3] + numbers[5] + numbers[7]) / 4;
}

/// Score and class of an answer, without its box.
template <class Numbers>
HONE_HOST_DEVICE FoundBox scored(const BoxHead& head, const Numbers& numbers, int64_t answer) {
  if (head.all_classes) {
    const float score = object_score(head, numbers) * numbers[head.first_class + answer];
    return {{}, head.uncertain ? score * certainty(numbers) : score, static_cast<int32_t>(answer)};
  }
  FoundBox best = likeliest(head, numbers);
  if (head.form == BoxForm::kLogits) best.score = sigmoid(best.score);
  if (head.object >= 0) best.score = object_score(head, numbers) * best.score;
  return best;
}

/// Cells of the strides follow each other, row by row. Returns false for an index beyond all cells.
template <class Numbers>
HONE_HOST_DEVICE bool in_cells(const BoxHead& head, int64_t index, const Numbers& numbers, Box* box) {
  constexpr int64_t kLargestStride = 64;
  for (int64_t stride = 8; stride <= kLargestStride; stride *= 2) {
    const int64_t width = (head.input_width + stride - 1) / stride;
    const int64_t cells = width * ((head.input_height + stride - 1) / stride);
    if (index < cells) {
      const int64_t row = index / width;
      const auto step = static_cast<float>(stride);
      const auto x = static_cast<float>(index % width);
      const auto y = static_cast<float>(row);
      *box = from_centre((numbers[0] + x) * step, (numbers[1] + y) * step, exponential(numbers[2]) * step,
                         exponential(numbers[3]) * step);
      return true;
    }
    index -= cells;
  }
  return false;
}

template <class Numbers>
HONE_HOST_DEVICE Box of_logits(const BoxHead& head, int64_t index, const Numbers& numbers) {
  const int64_t cell = index % (int64_t{head.columns} * head.lines);
  const int64_t line = cell / head.columns;
  const float* const anchor = head.anchors + 2 * (index / (int64_t{head.columns} * head.lines));
  const float column_width = static_cast<float>(head.input_width) / static_cast<float>(head.columns);
  const float line_height = static_cast<float>(head.input_height) / static_cast<float>(head.lines);
  const float x = (2 * sigmoid(numbers[0]) - 0.5f + static_cast<float>(cell % head.columns)) * column_width;
  const float y = (2 * sigmoid(numbers[1]) - 0.5f + static_cast<float>(line)) * line_height;
  const float width = 2 * sigmoid(numbers[2]);
  const float height = 2 * sigmoid(numbers[3]);
  return from_centre(x, y, width * width * anchor[0], height * height * anchor[1]);
}

/// In coordinates relative to the input.
template <class Numbers>
HONE_HOST_DEVICE Box of_darknet(const BoxHead& head, int64_t index, const Numbers& numbers) {
  const int64_t step = head.uncertain ? 2 : 1;
  const int64_t cell = index % (int64_t{head.columns} * head.lines);
  const int64_t line = cell / head.columns;
  const float* const anchor = head.anchors + 2 * (index / (int64_t{head.columns} * head.lines));
  const auto columns = static_cast<float>(head.columns);
  const auto lines = static_cast<float>(head.lines);
  const float across = numbers[2 * step];
  const float down = numbers[3 * step];
  const float width = (head.squares ? 4 * across * across : exponential(across)) * anchor[0] /
                      (head.anchors_in_cells ? columns : static_cast<float>(head.input_width));
  const float height = (head.squares ? 4 * down * down : exponential(down)) * anchor[1] /
                       (head.anchors_in_cells ? lines : static_cast<float>(head.input_height));
  const float x = (static_cast<float>(cell % head.columns) + numbers[0]) / columns;
  const float y = (static_cast<float>(line) + numbers[step]) / lines;
  if (head.point == BoxPoint::kLeftTop) return {x, y, x + width, y + height};
  if (head.point == BoxPoint::kRightBottom) return {x - width, y - height, x, y};
  return from_centre(x, y, width, height);
}

/// An answer of box `index`, in the head's coordinates. Its label is -1 if it is not above the threshold or
/// not a valid box.
template <class Numbers>
HONE_HOST_DEVICE FoundBox answer_of(const BoxHead& head, int64_t index, const Numbers& numbers,
                                    int64_t answer) {
  FoundBox found = scored(head, numbers, answer);
  bool is_box = found.score > head.threshold && is_finite(found.score);
  if (is_box) {
    switch (head.form) {
      case BoxForm::kPixels:
        found.box = from_centre(numbers[0], numbers[1], numbers[2], numbers[3]);
        if (head.angle >= 0) found.box = around(found.box, numbers[head.angle]);
        break;
      case BoxForm::kCells: is_box = in_cells(head, index, numbers, &found.box); break;
      case BoxForm::kLogits: found.box = of_logits(head, index, numbers); break;
      case BoxForm::kDarknet: found.box = of_darknet(head, index, numbers); break;
    }
  }
  is_box = is_box && is_finite(found.box.x1) && is_finite(found.box.y1) && is_finite(found.box.x2) &&
           is_finite(found.box.y2);
  if (!is_box) found.label = -1;
  return found;
}

/// Converts to pixels of the image.
HONE_HOST_DEVICE Box placed(const BoxPlace& place, const Box& box) {
  const auto back = [](float value, double shift, double scale) {
    return static_cast<float>((static_cast<double>(value) - shift) / scale);
  };
  return {back(box.x1 * place.x_factor, place.x_shift, place.x_scale),
          back(box.y1 * place.y_factor, place.y_shift, place.y_scale),
          back(box.x2 * place.x_factor, place.x_shift, place.x_scale),
          back(box.y2 * place.y_factor, place.y_shift, place.y_scale)};
}

/// Area of the intersection divided by that of the union; 0 for boxes without area.
HONE_HOST_DEVICE float iou(const Box& a, const Box& b) {
  const float width = smaller(a.x2, b.x2) - larger(a.x1, b.x1);
  const float height = smaller(a.y2, b.y2) - larger(a.y1, b.y1);
  if (width <= 0 || height <= 0) return 0;
  const float common = width * height;
  const float both = a.width() * a.height() + b.width() * b.height() - common;
  return both > 0 ? common / both : 0;
}

HONE_HOST_DEVICE float distance_share(const Box& a, const Box& b) {
  const float x = (a.x1 + a.x2 - b.x1 - b.x2) / 2;
  const float y = (a.y1 + a.y2 - b.y1 - b.y2) / 2;
  const float width = larger(a.x2, b.x2) - smaller(a.x1, b.x1);
  const float height = larger(a.y2, b.y2) - smaller(a.y1, b.y1);
  const float diagonal = width * width + height * height;
  return diagonal > 0 ? (x * x + y * y) / diagonal : 0;
}

HONE_HOST_DEVICE Box relative(const BoxPlace& place, const Box& box) {
  return {box.x1 / place.image_width, box.y1 / place.image_height, box.x2 / place.image_width,
          box.y2 / place.image_height};
}

/// The measure of overlap for suppression; distances are relative to the image.
HONE_HOST_DEVICE float overlap_of(const BoxSelection& selection, const BoxPlace& place, const Box& a,
                                  const Box& b) {
  const float common = iou(a, b);
  if (!selection.by_distance) return common;
  const float share = distance_share(relative(place, a), relative(place, b));
  return common -
         static_cast<float>(pow(static_cast<double>(share), static_cast<double>(selection.distance_power)));
}

/// The part inside the image.
HONE_HOST_DEVICE Box clipped(const BoxPlace& place, const Box& box) {
  const auto inside = [](float value, float end) { return value < 0 ? 0 : end < value ? end : value; };
  return {inside(box.x1, place.image_width), inside(box.y1, place.image_height),
          inside(box.x2, place.image_width), inside(box.y2, place.image_height)};
}

}  // namespace box

/// Answers of one image before suppression, as a device lists them: their number, and the order in which the
/// host would find them. If there are more than fit, they are counted but not listed.
struct BoxCandidates {
  static constexpr int64_t kMost = 4096;

  uint32_t count = 0;
  FoundBox boxes[kMost];
  uint32_t orders[kMost];
};

/// The result for each image: the number of boxes that remain, or -1 if there were too many candidates; then
/// `most` elements of FoundBox, sorted by falling score.
struct BoxList {
  static int64_t bytes(int64_t most) {
    return static_cast<int64_t>(sizeof(int32_t)) + most * static_cast<int64_t>(sizeof(FoundBox));
  }
};

}  // namespace hone::engine
