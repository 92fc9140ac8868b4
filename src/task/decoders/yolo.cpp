// Output forms of YOLO with one row for each cell, which need NMS.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>

#include "base/error.hpp"
#include "task/decoders/rows.hpp"

namespace hone::task {
namespace {

/// x, y, width, height and, except in YOLOv8, the objectness.
constexpr int64_t kBoxNumbers = 4;
constexpr int64_t kWithObject = 5;
/// Mask coefficients that segmentation appends to each row.
constexpr int64_t kMaskNumbers = 32;

bool has_masks(const Signature& signature) {
  return output_where(signature, {},
                      [](const OutputInfo& output) {
                        return output.shape.size() == 4 && output.shape[1] == kMaskNumbers;
                      })
      .has_value();
}

/// The first output with rows for cells: [N, a, b], or [a, b] if the network has no batch dimension.
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

/// Returns the number of classes in rows of this width: the known number, else the width without box and
/// mask.
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

/// Describes rows of `numbers` numbers that lie one after the other.
engine::RowRule rule_of_rows(const tensor::Shape& part, int64_t numbers) {
  engine::RowRule rule;
  rule.image = tensor::element_count(part);
  rule.boxes = part.back() == 0 ? 0 : rule.image / part.back();
  rule.numbers = numbers;
  rule.outer_stride = part.back();
  return rule;
}

/// Sets the fields that all heads share.
HeadRule head_of(const DecodeForm& form, engine::BoxForm kind) {
  HeadRule rule;
  rule.head.form = kind;
  rule.head.threshold = form.threshold;
  rule.head.classes = form.match.classes;
  rule.head.input_width = static_cast<int32_t>(form.signature.input_width);
  rule.head.input_height = static_cast<int32_t>(form.signature.input_height);
  return rule;
}

/// A row has an objectness score after the box, which is an upper limit for the scores of its classes.
HeadRule rule_with_object(const DecodeForm& form, engine::BoxForm kind, const tensor::Shape& part) {
  HeadRule rule = head_of(form, kind);
  rule.head.object = kBoxNumbers;
  rule.head.first_class = kWithObject;
  rule.head.rows = rule_of_rows(part, kWithObject + form.match.classes);
  rule.head.rows.first_gate = kBoxNumbers;
  rule.head.rows.level = form.threshold;
  return rule;
}

HeadRule rule_of_yolov5(const DecodeForm& form, size_t /*role*/, const tensor::Shape& part) {
  return rule_with_object(form, engine::BoxForm::kPixels, part);
}

HeadRule rule_of_yolox(const DecodeForm& form, size_t /*role*/, const tensor::Shape& part) {
  return rule_with_object(form, engine::BoxForm::kCells, part);
}

/// True if boxes are rotated by an angle, which follows the class scores.
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
  // These are rows of YOLOv5 whose length happens to be a possible number of cells.
  const bool is_yolov5 = signature.classes > 0 && output->columns == kWithObject + signature.classes &&
                         is_count(signature, output->rows, 3);
  if (is_yolov5 && !forced) return std::nullopt;
  const bool upright = is_count(signature, output->columns, 1) && output->rows > kBoxNumbers;
  const bool named = signature.classes > 0 &&
                     output->rows == kBoxNumbers + signature.classes + (has_angles(signature) ? 1 : 0) &&
                     output->columns > output->rows;
  // A cell with five numbers cannot belong to YOLOX, whose rows have at least six.
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

/// The numbers of a cell are either one row apart, as in [4 + nc, cells], or consecutive.
HeadRule rule_of_yolov8(const DecodeForm& form, size_t /*role*/, const tensor::Shape& part) {
  const int64_t classes = form.match.classes;
  const bool turned = has_angles(form.signature);
  HeadRule rule = head_of(form, engine::BoxForm::kPixels);
  rule.head.first_class = kBoxNumbers;
  if (turned) rule.head.angle = kBoxNumbers + classes;
  engine::RowRule& rows = rule.head.rows;
  rows = rule_of_rows(part, kBoxNumbers + classes + (turned ? 1 : 0));
  const bool upright = form.match.roles[0].least[0] != 0;
  if (upright) {
    rows.boxes = part[1];
    rows.outer_stride = 1;
    rows.number_stride = part[1];
  }
  rows.first_gate = kBoxNumbers;
  rows.gates = classes;
  rows.level = form.threshold;
  return rule;
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

constexpr int64_t kHeads = 3;
constexpr int64_t kHeadAnchors = 3;

/// Three outputs [N, 3, h, w, 5 + nc], that with the finest cells first.
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

/// Returns widths and heights in pixels, three anchors per head. The metadata hold 18 numbers with any
/// separators.
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

/// Returns a logit that is below the logit of every score above the threshold, however it was rounded.
float logit_below(float threshold) {
  constexpr float kSlack = 1e-3f;
  if (threshold <= 0) return -std::numeric_limits<float>::infinity();
  return std::log(threshold / (1 - threshold)) - kSlack;
}

HeadRule rule_of_yolov7_raw(const DecodeForm& form, size_t role, const tensor::Shape& part) {
  HeadRule rule = head_of(form, engine::BoxForm::kLogits);
  rule.head.object = kBoxNumbers;
  rule.head.first_class = kWithObject;
  rule.head.lines = static_cast<int32_t>(part[1]);
  rule.head.columns = static_cast<int32_t>(part[2]);
  rule.head.rows = rule_of_rows(part, part.back());
  rule.head.rows.boxes = kHeadAnchors * part[1] * part[2];
  rule.head.rows.first_gate = kBoxNumbers;
  rule.head.rows.level = logit_below(form.threshold);
  const std::vector<float> anchors = anchors_of(form.signature);
  const auto first = anchors.begin() + static_cast<std::ptrdiff_t>(2 * kHeadAnchors * role);
  rule.anchors.assign(first, first + 2 * kHeadAnchors);
  return rule;
}

}  // namespace

const Decoder kYolov5{
    "yolov5", "YOLOv5 and v7: [N, cells x 3, 5 + classes], boxes in pixels, object times class",
    {},       Space::kInputPixels,
    true,     match_yolov5,
    nullptr,  nullptr,
    true,     rule_of_yolov5};
const Decoder kYolov8{
    "yolov8", "YOLOv8, v9, 11, 12 and 26 before NMS: [N, 4 + classes, cells], boxes in pixels",
    {},       Space::kInputPixels,
    true,     match_yolov8,
    nullptr,  nullptr,
    true,     rule_of_yolov8};
const Decoder kYolox{"yolox",
                     "YOLOX: [N, cells, 5 + classes], boxes relative to their cells",
                     {Fit::kCorner, 114, true, 1},
                     Space::kInputPixels,
                     true,
                     match_yolox,
                     nullptr,
                     nullptr,
                     true,
                     rule_of_yolox};
const Decoder kYolov7Raw{
    "yolov7-raw", "YOLOv7's and v5's three heads: [N, 3, h, w, 5 + classes] before the sigmoid",
    {},           Space::kInputPixels,
    true,         match_yolov7_raw,
    nullptr,      nullptr,
    true,         rule_of_yolov7_raw};

}  // namespace hone::task
