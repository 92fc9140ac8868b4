// Forms of YOLO that give a row for each cell and need NMS.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>

#include "base/error.hpp"
#include "task/decoders/rows.hpp"

namespace hone::task {
namespace {

/// x, y, width, height and, but for YOLOv8, whether there is an object.
constexpr int64_t kBoxNumbers = 4;
constexpr int64_t kWithObject = 5;
/// Numbers that segmentation adds to each row.
constexpr int64_t kMaskNumbers = 32;

bool has_masks(const Signature& signature) {
  return output_where(signature, {},
                      [](const OutputInfo& output) {
                        return output.shape.size() == 4 && output.shape[1] == kMaskNumbers;
                      })
      .has_value();
}

/// The first output with rows for cells: [N, a, b], or [a, b] of networks that have lost the batch.
struct CellOutput {
  size_t index;
  int64_t rows;
  int64_t columns;
};

std::optional<CellOutput> cell_output(const Signature& signature) {
  const auto index = output_where(signature, {}, [](const OutputInfo& output) {
    return is_float(output.dtype) && (output.shape.size() == 3 || output.shape.size() == 2);
  });
  if (!index) return std::nullopt;
  const tensor::Shape& shape = signature.outputs[*index].shape;
  return CellOutput{*index, shape[shape.size() - 2], shape.back()};
}

/// Classes of rows that are this wide: those that are named, else all that is neither box nor mask.
int64_t classes_of(const Signature& signature, int64_t width, int64_t before) {
  const int64_t room = width - before - (has_masks(signature) ? kMaskNumbers : 0);
  return signature.classes > 0 && signature.classes <= room ? signature.classes : room;
}

bool is_count(const Signature& signature, int64_t rows, int64_t share) {
  const auto counts = cell_counts(signature);
  return std::any_of(counts.begin(), counts.end(), [&](int64_t count) { return rows == share * count; });
}

std::optional<Match> match_yolov5(const Signature& signature, bool forced) {
  const auto output = cell_output(signature);
  if (!output || output->columns <= kWithObject) return std::nullopt;
  constexpr int64_t kAnchors = 3;
  const bool counted = is_count(signature, output->rows, kAnchors);
  if (!counted && !forced) return std::nullopt;
  const int64_t classes = classes_of(signature, output->columns, kWithObject);
  if (classes <= 0) return std::nullopt;
  return Match{{{output->index, {0, kWithObject + classes}}},
               classes,
               signature.classes > 0 ? "" : fmt::format("{} classes", classes)};
}

/// Rows of this many wanted numbers, one after the other.
engine::RowRule rule_of_rows(const tensor::Shape& part, int64_t numbers) {
  engine::RowRule rule;
  rule.image = tensor::element_count(part);
  rule.boxes = part.back() == 0 ? 0 : rule.image / part.back();
  rule.numbers = numbers;
  rule.outer_stride = part.back();
  return rule;
}

/// A row has an object's score after the box, which no class makes larger.
engine::RowRule rule_with_object(const DecodeForm& form, size_t /*role*/, const tensor::Shape& part) {
  engine::RowRule rule = rule_of_rows(part, kWithObject + form.match.classes);
  rule.first_gate = kBoxNumbers;
  rule.level = form.threshold;
  return rule;
}

void decode_yolov5(const DecodeCall& call, std::vector<Detection>* found) {
  const auto rule_of = [&](const tensor::Shape& part) { return rule_with_object(call, 0, part); };
  each_box(call, 0, rule_of, [&](int64_t, const BoxNumbers& row) {
    const float object = row[kBoxNumbers];
    if (!(object > call.threshold)) return;
    Best best = best_of(row, kWithObject, call.match.classes);
    best.score *= object;
    add_above(call.threshold, from_centre(row[0], row[1], row[2], row[3]), best, found);
  });
}

/// True if boxes are turned by an angle, which follows the classes.
bool has_angles(const Signature& signature) {
  const auto task = signature.metadata.find("task");
  return task != signature.metadata.end() && task->second == "obb";
}

std::string assumed_of_yolov8(const Signature& signature, int64_t classes) {
  std::string assumed = signature.classes > 0 ? "" : fmt::format("{} classes", classes);
  if (has_angles(signature))
    assumed += fmt::format("{}upright boxes around those that are turned", assumed.empty() ? "" : ", ");
  return assumed;
}

std::optional<Match> match_yolov8(const Signature& signature, bool forced) {
  const auto output = cell_output(signature);
  if (!output) return std::nullopt;
  // Rows of YOLOv5 whose length happens to be the number of cells.
  const bool is_yolov5 = signature.classes > 0 && output->columns == kWithObject + signature.classes &&
                         is_count(signature, output->rows, 3);
  if (is_yolov5 && !forced) return std::nullopt;
  const bool upright = is_count(signature, output->columns, 1) && output->rows > kBoxNumbers;
  const bool named = signature.classes > 0 &&
                     output->rows == kBoxNumbers + signature.classes + (has_angles(signature) ? 1 : 0) &&
                     output->columns > output->rows;
  // Five numbers a cell are no row of YOLOX, which has at least six.
  const int64_t told = signature.classes > 0 ? signature.classes : 1;
  const bool lying = is_count(signature, output->rows, 1) && output->columns == kBoxNumbers + told;
  if (!upright && !named && !lying && !forced) return std::nullopt;
  const bool by_rows = lying || (!upright && !named && output->rows > output->columns);
  const int64_t width = by_rows ? output->columns : output->rows;
  const int64_t angle = has_angles(signature) ? 1 : 0;
  const int64_t classes = classes_of(signature, width - angle, kBoxNumbers);
  if (classes <= 0) return std::nullopt;
  const int64_t numbers = kBoxNumbers + classes + angle;
  return Match{{{output->index, by_rows ? tensor::Shape{0, numbers} : tensor::Shape{numbers, 0}}},
               classes,
               assumed_of_yolov8(signature, classes)};
}

/// The upright box around one that is turned by so many radians.
Box around(const Box& box, float angle) {
  const float x = (box.x1 + box.x2) / 2;
  const float y = (box.y1 + box.y2) / 2;
  const float across = std::abs(std::cos(angle));
  const float along = std::abs(std::sin(angle));
  return from_centre(x, y, box.width() * across + box.height() * along,
                     box.width() * along + box.height() * across);
}

/// Numbers of a cell lie a row apart: [4 + nc, cells].
void decode_upright(const Rows& rows, const DecodeCall& call, std::vector<Detection>* found) {
  const auto cells = static_cast<size_t>(rows.shape()[1]);
  const auto values = rows.values();
  // Below every number, so that NaN is never the highest.
  std::vector<float> highest(cells, -std::numeric_limits<float>::infinity());
  std::vector<int64_t> label(cells, 0);
  for (int64_t c = 0; c < call.match.classes; ++c) {
    const float* scores = values.data() + static_cast<size_t>(kBoxNumbers + c) * cells;
    for (size_t i = 0; i < cells; ++i) {
      if (!(scores[i] > highest[i])) continue;
      highest[i] = scores[i];
      label[i] = c;
    }
  }
  const float* const angles =
      has_angles(call.signature)
          ? values.data() + static_cast<size_t>(kBoxNumbers + call.match.classes) * cells
          : nullptr;
  for (size_t i = 0; i < cells; ++i) {
    Box box = from_centre(values[i], values[cells + i], values[2 * cells + i], values[3 * cells + i]);
    if (angles != nullptr) box = around(box, angles[i]);
    add_above(call.threshold, box, {label[i], highest[i]}, found);
  }
}

bool is_upright(const DecodeForm& form) { return form.match.roles[0].least[0] != 0; }

engine::RowRule rule_of_yolov8(const DecodeForm& form, size_t /*role*/, const tensor::Shape& part) {
  const int64_t classes = form.match.classes;
  engine::RowRule rule = rule_of_rows(part, kBoxNumbers + classes + (has_angles(form.signature) ? 1 : 0));
  if (is_upright(form)) {
    rule.boxes = part[1];
    rule.outer_stride = 1;
    rule.number_stride = part[1];
  }
  rule.first_gate = kBoxNumbers;
  rule.gates = classes;
  rule.level = form.threshold;
  return rule;
}

void decode_yolov8(const DecodeCall& call, std::vector<Detection>* found) {
  if (is_upright(call) && call.chosen.empty()) return decode_upright(Rows(call, 0), call, found);
  const bool turned = has_angles(call.signature);
  const auto rule_of = [&](const tensor::Shape& part) { return rule_of_yolov8(call, 0, part); };
  each_box(call, 0, rule_of, [&](int64_t, const BoxNumbers& row) {
    Box box = from_centre(row[0], row[1], row[2], row[3]);
    if (turned) box = around(box, row[kBoxNumbers + call.match.classes]);
    add_above(call.threshold, box, best_of(row, kBoxNumbers, call.match.classes), found);
  });
}

std::optional<Match> match_yolox(const Signature& signature, bool forced) {
  const auto output = cell_output(signature);
  if (!output || output->columns <= kWithObject) return std::nullopt;
  if (!is_count(signature, output->rows, 1)) return std::nullopt;
  const bool likely = signature.classes == 0 || output->columns == kWithObject + signature.classes;
  if (!likely && !forced) return std::nullopt;
  return Match{{{output->index, {0, output->columns}}},
               output->columns - kWithObject,
               "boxes relative to their cells, as YOLOX exports them (where they are pixels already, as in "
               "YOLOv6, --decoder yolov5)"};
}

struct GridCell {
  float x = 0;
  float y = 0;
  float stride = 0;
};

/// The cell of a row: those of the strides 8, 16, 32 (and 64) follow each other, each row by row.
std::optional<GridCell> cell_of(const Signature& signature, int64_t row) {
  constexpr int64_t kLargestStride = 64;
  for (int64_t stride = 8; stride <= kLargestStride; stride *= 2) {
    const int64_t width = (signature.input_width + stride - 1) / stride;
    const int64_t cells = width * ((signature.input_height + stride - 1) / stride);
    const int64_t line = row / width;
    if (row < cells)
      return GridCell{static_cast<float>(row % width), static_cast<float>(line), static_cast<float>(stride)};
    row -= cells;
  }
  return std::nullopt;
}

void decode_yolox(const DecodeCall& call, std::vector<Detection>* found) {
  const auto rule_of = [&](const tensor::Shape& part) { return rule_with_object(call, 0, part); };
  each_box(call, 0, rule_of, [&](int64_t index, const BoxNumbers& row) {
    const float object = row[kBoxNumbers];
    if (!(object > call.threshold)) return;
    const auto cell = cell_of(call.signature, index);
    if (!cell) return;
    Best best = best_of(row, kWithObject, call.match.classes);
    best.score *= object;
    const float step = cell->stride;
    const Box box = from_centre((row[0] + cell->x) * step, (row[1] + cell->y) * step, std::exp(row[2]) * step,
                                std::exp(row[3]) * step);
    add_above(call.threshold, box, best, found);
  });
}

constexpr int64_t kHeads = 3;
constexpr int64_t kHeadAnchors = 3;

/// Three outputs [N, 3, h, w, 5 + nc], those of the finest cells first.
std::optional<Match> match_yolov7_raw(const Signature& signature, bool /*forced*/) {
  std::vector<size_t> heads;
  for (size_t i = 0; i < signature.outputs.size(); ++i) {
    const tensor::Shape& shape = signature.outputs[i].shape;
    if (shape.size() == 5 && shape[1] == kHeadAnchors && shape[4] > kWithObject) heads.push_back(i);
  }
  if (heads.size() != kHeads) return std::nullopt;
  std::sort(heads.begin(), heads.end(), [&](size_t a, size_t b) {
    return signature.outputs[a].shape[3] > signature.outputs[b].shape[3];
  });
  const int64_t width = signature.outputs[heads[0]].shape[4];
  std::vector<Role> roles;
  for (const size_t head : heads) {
    if (signature.outputs[head].shape[4] != width)
      fail_bad_input("its heads {} and {} disagree: {} and {} numbers a box",
                     signature.outputs[heads[0]].name, signature.outputs[head].name, width,
                     signature.outputs[head].shape[4]);
    roles.push_back({head, {kHeadAnchors, 0, 0, width}});
  }
  return Match{roles, width - kWithObject,
               signature.metadata.contains("anchors")
                   ? ""
                   : "the anchors of YOLOv7 (metadata 'anchors' tells others)"};
}

/// Widths and heights in pixels, three a head. Metadata: 18 numbers with anything between them.
std::vector<float> anchors_of(const Signature& signature) {
  std::vector<float> anchors{12, 16, 19, 36, 40, 28, 36, 75, 76, 55, 72, 146, 142, 110, 192, 243, 459, 401};
  const auto told = signature.metadata.find("anchors");
  if (told == signature.metadata.end()) return anchors;
  std::string text = told->second;
  std::replace_if(
      text.begin(), text.end(), [](char c) { return (c < '0' || c > '9') && c != '.'; }, ' ');
  std::istringstream numbers(text);
  std::vector<float> values;
  for (float value = 0; numbers >> value;) values.push_back(value);
  if (values.size() != anchors.size())
    fail_bad_input("the model's metadata entry 'anchors' has {} numbers, not {}", values.size(),
                   anchors.size());
  return values;
}

float sigmoid(float value) { return 1 / (1 + std::exp(-value)); }

/// An object's score above the threshold has a logit above this one, in whatever way it is rounded.
float logit_below(float threshold) {
  constexpr float kSlack = 1e-3f;
  if (threshold <= 0) return -std::numeric_limits<float>::infinity();
  return std::log(threshold / (1 - threshold)) - kSlack;
}

engine::RowRule rule_of_yolov7_raw(const DecodeForm& form, size_t /*role*/, const tensor::Shape& part) {
  engine::RowRule rule = rule_of_rows(part, part.back());
  rule.first_gate = kBoxNumbers;
  rule.level = logit_below(form.threshold);
  return rule;
}

void decode_yolov7_raw(const DecodeCall& call, std::vector<Detection>* found) {
  const std::vector<float> anchors = anchors_of(call.signature);
  for (size_t head = 0; head < kHeads; ++head) {
    const size_t output = call.match.roles[head].output;
    const tensor::Shape part =
        part_of(call.match.roles[head],
                call.chosen.empty() ? call.outputs[output].shape() : call.signature.outputs[output].shape);
    const int64_t height = part[1];
    const int64_t width = part[2];
    const float x_stride = static_cast<float>(call.signature.input_width) / static_cast<float>(width);
    const float y_stride = static_cast<float>(call.signature.input_height) / static_cast<float>(height);
    const auto rule_of = [&](const tensor::Shape& shape) { return rule_of_yolov7_raw(call, head, shape); };
    each_box(call, head, rule_of, [&](int64_t i, const BoxNumbers& row) {
      const float object = sigmoid(row[kBoxNumbers]);
      if (!(object > call.threshold)) return;
      Best best = best_of(row, kWithObject, call.match.classes);
      best.score = object * sigmoid(best.score);
      const float* anchor =
          anchors.data() + 2 * (head * kHeadAnchors + static_cast<size_t>(i / (height * width)));
      const auto twice = [&](int64_t k) { return 2 * sigmoid(row[k]); };
      const float x = (twice(0) - 0.5f + static_cast<float>(i % width)) * x_stride;
      const float y = (twice(1) - 0.5f + static_cast<float>(i / width % height)) * y_stride;
      add_above(call.threshold,
                from_centre(x, y, twice(2) * twice(2) * anchor[0], twice(3) * twice(3) * anchor[1]), best,
                found);
    });
  }
}

}  // namespace

const Decoder kYolov5{"yolov5",
                      "YOLOv5 and v7: [N, cells x 3, 5 + classes], boxes in pixels, object times class",
                      {},
                      Space::kInputPixels,
                      true,
                      match_yolov5,
                      decode_yolov5,
                      nullptr,
                      true,
                      rule_with_object};
const Decoder kYolov8{"yolov8",
                      "YOLOv8, v9, 11, 12 and 26 before NMS: [N, 4 + classes, cells], boxes in pixels",
                      {},
                      Space::kInputPixels,
                      true,
                      match_yolov8,
                      decode_yolov8,
                      nullptr,
                      true,
                      rule_of_yolov8};
const Decoder kYolox{"yolox",
                     "YOLOX: [N, cells, 5 + classes], boxes relative to their cells",
                     {Fit::kCorner, 114, true, 1},
                     Space::kInputPixels,
                     true,
                     match_yolox,
                     decode_yolox,
                     nullptr,
                     true,
                     rule_with_object};
const Decoder kYolov7Raw{"yolov7-raw",
                         "YOLOv7's and v5's three heads: [N, 3, h, w, 5 + classes] before the sigmoid",
                         {},
                         Space::kInputPixels,
                         true,
                         match_yolov7_raw,
                         decode_yolov7_raw,
                         nullptr,
                         true,
                         rule_of_yolov7_raw};

}  // namespace hone::task
