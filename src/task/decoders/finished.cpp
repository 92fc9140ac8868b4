// Output forms in which the network has already selected the boxes, so that no NMS follows.
#include <algorithm>

#include "task/decoders/rows.hpp"

namespace hone::task {
namespace {

/// Networks select fewer boxes than this; outputs with more rows hold cells.
constexpr int64_t kMostChosen = 1000;
constexpr int64_t kBoxNumbers = 4;

bool says_detr(const Signature& signature) {
  const auto told = signature.metadata.find("description");
  if (told == signature.metadata.end()) return false;
  return told->second.find("DETR") != std::string::npos || told->second.find("detr") != std::string::npos;
}

/// x1, y1, x2, y2, score, class.
constexpr int64_t kRowNumbers = 6;
std::optional<Match> match_end_to_end(const Signature& signature, bool forced) {
  const auto index = output_where(signature, {}, [](const OutputInfo& output) {
    return is_float(output.dtype) && (output.shape.size() == 3 || output.shape.size() == 2) &&
           output.shape.back() >= kRowNumbers;
  });
  if (!index) return std::nullopt;
  const tensor::Shape& shape = signature.outputs[*index].shape;
  const bool told = signature.metadata.contains("end2end") && signature.metadata.at("end2end") == "True";
  // Mask coefficients or keypoints may follow the six numbers.
  if (!told && shape.back() != kRowNumbers && !forced) return std::nullopt;
  if (!told && !forced && (shape[shape.size() - 2] > kMostChosen || says_detr(signature)))
    return std::nullopt;
  // The rows of RT-DETR have six numbers too, but their boxes are shares of the image; corners in pixels
  // would be larger.
  const float largest = signature.outputs[*index].largest_coordinate;
  if (!told && !forced && largest > 0 && largest <= kMostShare) return std::nullopt;
  return Match{{{*index, {0, kRowNumbers}}},
               signature.classes,
               told || forced
                   ? ""
                   : "rows of corners in pixels, score and class (--decoder rtdetr: shares of the image)"};
}

void decode_end_to_end(const DecodeCall& call, std::vector<Detection>* found) {
  const Rows rows(call, 0);
  for (int64_t i = 0; i < rows.count(); ++i) {
    const auto row = rows.row(i);
    add_above(call.threshold, {row[0], row[1], row[2], row[3]}, {index_of(row[5]), row[4]}, found);
  }
}

constexpr int64_t kBatchRowNumbers = 7;
/// [n, 7]: image of the batch, x1, y1, x2, y2, class, score.
std::optional<Match> match_yolov7_nms(const Signature& signature, bool /*forced*/) {
  const auto index = output_where(signature, {}, [](const OutputInfo& output) {
    return is_float(output.dtype) && output.shape.size() == 2 && output.shape.back() == kBatchRowNumbers;
  });
  if (!index) return std::nullopt;
  return Match{{{*index, {0, kBatchRowNumbers}}}, signature.classes, ""};
}

void decode_yolov7_nms(const DecodeCall& call, std::vector<Detection>* found) {
  const Rows rows(call, 0, 0);
  for (int64_t i = 0; i < rows.count(); ++i) {
    const auto row = rows.row(i);
    if (index_of(row[0]) != call.row) continue;
    add_above(call.threshold, {row[1], row[2], row[3], row[4]}, {index_of(row[5]), row[6]}, found);
  }
}

/// The first output gives the number of valid rows; the rows after them are stale.
std::optional<Match> match_efficient_nms(const Signature& signature, bool /*forced*/) {
  const auto count = output_named(signature, {"num_dets", "num_detections", "num"});
  const auto boxes = output_named(signature, {"det_boxes", "detection_boxes", "nmsed_boxes", "boxes"});
  const auto scores = output_named(signature, {"det_scores", "detection_scores", "nmsed_scores", "scores"});
  const auto labels =
      output_named(signature, {"det_classes", "detection_classes", "nmsed_classes", "classes"});
  if (!count || !boxes || !scores || !labels) return std::nullopt;
  return Match{{{*count}, {*boxes, {0, kBoxNumbers}}, {*scores, {0}}, {*labels, {0}}},
               signature.classes,
               "boxes as corners in pixels of the input"};
}

/// Returns the number of valid rows for the call's image, as given by the first output and limited to `room`.
int64_t told_count(const DecodeCall& call, int64_t room) {
  const std::vector<double> counts = call.outputs[call.match.roles[0].output].to_double();
  const auto row = static_cast<size_t>(call.row);
  const double told = row < counts.size() && counts[row] >= 0 ? counts[row] : 0;
  return static_cast<int64_t>(std::clamp(told, 0.0, static_cast<double>(room)));
}

void decode_efficient_nms(const DecodeCall& call, std::vector<Detection>* found) {
  const Rows boxes(call, 1);
  const Rows scores(call, 2);
  const Rows labels(call, 3);
  const int64_t count = told_count(call, common_count({&boxes, &scores, &labels}));
  for (int64_t i = 0; i < count; ++i) {
    const auto box = boxes.row(i);
    const auto at = static_cast<size_t>(i);
    add_above(call.threshold, {box[0], box[1], box[2], box[3]},
              {index_of(labels.values()[at]), scores.values()[at]}, found);
  }
}

/// Finds an output by its name in TensorFlow, with or without the number of the operation's output that
/// converters append.
std::optional<size_t> tensorflow_output(const Signature& signature, std::string_view name) {
  const std::string numbered = fmt::format("{}:0", name);
  return output_named(signature, {name, numbered});
}

/// The outputs of EfficientNMS have the same names, but its classes are integers.
std::optional<Match> match_tensorflow(const Signature& signature, bool forced) {
  const auto count = tensorflow_output(signature, "num_detections");
  const auto boxes = tensorflow_output(signature, "detection_boxes");
  const auto scores = tensorflow_output(signature, "detection_scores");
  const auto labels = tensorflow_output(signature, "detection_classes");
  if (!count || !boxes || !scores || !labels) return std::nullopt;
  if (!is_float(signature.outputs[*labels].dtype) && !forced) return std::nullopt;
  return Match{{{*count}, {*boxes, {0, kBoxNumbers}}, {*scores, {0}}, {*labels, {0}}},
               signature.classes,
               "y before x in 0..1 of the image, classes that count from 1"};
}

/// The first output gives the number of rows; boxes are y1, x1, y2, x2.
void decode_tensorflow(const DecodeCall& call, std::vector<Detection>* found) {
  const Rows boxes(call, 1);
  const Rows scores(call, 2);
  const Rows labels(call, 3);
  const int64_t count = told_count(call, common_count({&boxes, &scores, &labels}));
  for (int64_t i = 0; i < count; ++i) {
    const auto box = boxes.row(i);
    const auto at = static_cast<size_t>(i);
    add_above(call.threshold, {box[1], box[0], box[3], box[2]},
              {index_of(labels.values()[at]) - 1, scores.values()[at]}, found);
  }
}

/// Finds separate outputs for boxes, classes and scores, with or without a batch dimension.
std::optional<std::vector<Role>> three_outputs(const Signature& signature, size_t rank) {
  const auto is_boxes = [rank](const OutputInfo& output) {
    return is_float(output.dtype) && output.shape.size() == rank && output.shape.back() == kBoxNumbers;
  };
  const auto boxes = output_where(signature, {}, is_boxes);
  if (!boxes) return std::nullopt;
  const auto labels = output_where(signature, {*boxes}, [rank](const OutputInfo& output) {
    return !is_float(output.dtype) && output.shape.size() + 1 == rank;
  });
  auto named = output_named(signature, {"labels", "classes"});
  const auto chosen = labels ? labels : named;
  if (!chosen) return std::nullopt;
  const auto scores = output_where(signature, {*boxes, *chosen}, [rank](const OutputInfo& output) {
    return is_float(output.dtype) && output.shape.size() + 1 == rank;
  });
  if (!scores) return std::nullopt;
  return std::vector<Role>{{*boxes, {0, kBoxNumbers}}, {*chosen, {0}}, {*scores, {0}}};
}

/// `first` is the number of the first class; smaller numbers are the background.
void decode_three(const DecodeCall& call, int64_t first, std::vector<Detection>* found) {
  const Rows boxes(call, 0);
  const Rows labels(call, 1);
  const Rows scores(call, 2);
  const int64_t count = common_count({&boxes, &labels, &scores});
  for (int64_t i = 0; i < count; ++i) {
    const auto box = boxes.row(i);
    const auto at = static_cast<size_t>(i);
    const int64_t label = index_of(labels.values()[at]) - first;
    if (label < 0) continue;
    add_above(call.threshold, {box[0], box[1], box[2], box[3]}, {label, scores.values()[at]}, found);
  }
}

bool asks_for_size(const Signature& signature) {
  return std::find(signature.inputs.begin(), signature.inputs.end(), "orig_target_sizes") !=
         signature.inputs.end();
}

std::optional<Match> match_rtdetr_original(const Signature& signature, bool forced) {
  if (!asks_for_size(signature) && !forced) return std::nullopt;
  const auto roles = three_outputs(signature, 3);
  if (!roles) return std::nullopt;
  return Match{*roles, signature.classes, ""};
}

void decode_rtdetr_original(const DecodeCall& call, std::vector<Detection>* found) {
  decode_three(call, 0, found);
}

std::optional<Match> match_ssd(const Signature& signature, bool forced) {
  if (asks_for_size(signature) && !forced) return std::nullopt;
  const auto roles = three_outputs(signature, 3);
  if (!roles) return std::nullopt;
  return Match{*roles, signature.classes, "corners in 0..1 of the image, classes that count from 1"};
}

void decode_counted_from_one(const DecodeCall& call, std::vector<Detection>* found) {
  decode_three(call, 1, found);
}

std::optional<Match> match_torchvision(const Signature& signature, bool /*forced*/) {
  const auto roles = three_outputs(signature, 2);
  if (!roles) return std::nullopt;
  return Match{*roles, signature.classes, "corners in pixels of the input, classes that count from 1"};
}

constexpr InputForm kStretched{Fit::kStretch};
/// The network normalizes its input itself; the input is usually bytes.
constexpr InputForm kRaw{Fit::kStretch, 0, false, 1};
constexpr InputForm kImageNet{Fit::kStretch, 0, false, 1.0f / 255, true};

}  // namespace

const Decoder kEndToEnd{"end2end",
                        "YOLO26, v10 and exports with NMS: [N, n, 6], corners in pixels, score, class",
                        {},
                        Space::kInputPixels,
                        false,
                        match_end_to_end,
                        decode_end_to_end};
const Decoder kYolov7Nms{"yolov7-nms",
                         "YOLOv7 --end2end: [n, 7], image of the batch, corners in pixels, class, score",
                         {},
                         Space::kInputPixels,
                         false,
                         match_yolov7_nms,
                         decode_yolov7_nms};
const Decoder kEfficientNms{"efficientnms",
                            "EfficientNMS: num_dets, det_boxes, det_scores, det_classes",
                            {},
                            Space::kInputPixels,
                            false,
                            match_efficient_nms,
                            decode_efficient_nms};
const Decoder kTensorflow{
    "tensorflow",
    "TensorFlow's detectors: num_detections, detection_boxes, detection_scores, detection_classes from 1",
    kRaw,
    Space::kInputShare,
    false,
    match_tensorflow,
    decode_tensorflow};
const Decoder kRtdetrOriginal{
    "rtdetr-original",
    "RT-DETR and D-FINE of their authors: labels, boxes, scores in pixels of the image",
    kStretched,
    Space::kImagePixels,
    false,
    match_rtdetr_original,
    decode_rtdetr_original};
const Decoder kSsd{"ssd",
                   "SSD: bboxes [N, n, 4] in 0..1, labels [N, n] from 1, scores [N, n]",
                   kImageNet,
                   Space::kInputShare,
                   false,
                   match_ssd,
                   decode_counted_from_one};
const Decoder kTorchvision{"torchvision",
                           "torchvision's detectors: boxes [n, 4] in pixels, labels [n] from 1, scores [n]",
                           kStretched,
                           Space::kInputPixels,
                           false,
                           match_torchvision,
                           decode_counted_from_one};

}  // namespace hone::task
