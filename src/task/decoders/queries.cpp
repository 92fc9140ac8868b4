// Output forms of transformers with a fixed number of queries, and the boxes-and-confidences form of darknet
// exports.
#include <algorithm>
#include <cmath>

#include "task/decoders/rows.hpp"

namespace hone::task {
namespace {

constexpr int64_t kBoxNumbers = 4;
constexpr int64_t kMostQueries = 1000;
/// RT-DETR and deformable variants use 300 queries and a sigmoid for each class; DETR uses 100 and a softmax.
constexpr int64_t kQueriesOfSigmoid = 300;

std::optional<Match> match_rtdetr(const Signature& signature, bool forced) {
  const auto index = output_where(signature, {}, [](const OutputInfo& output) {
    return is_float(output.dtype) && output.shape.size() == 3 && output.shape[1] <= kMostQueries &&
           output.shape[2] > kBoxNumbers;
  });
  if (!index || (signature.outputs.size() > 1 && !forced)) return std::nullopt;
  if (signature.outputs[*index].largest_coordinate > kMostShare && !forced) return std::nullopt;
  const int64_t width = signature.outputs[*index].shape[2];
  // The last two of [N, 300, 6] are either a score and a class, or the scores of two classes.
  const bool pairs = width == 6 && signature.classes != 2;
  const int64_t classes = pairs ? 0 : width - kBoxNumbers;
  const bool fits = pairs || signature.classes == 0 || signature.classes == classes;
  if (!fits && !forced) return std::nullopt;
  return Match{{{*index, {0, width}}}, classes, "centres and sides in 0..1 of the image"};
}

void decode_rtdetr(const DecodeCall& call, std::vector<Detection>* found) {
  const Rows rows(call, 0);
  for (int64_t i = 0; i < rows.count(); ++i) {
    const auto row = rows.row(i);
    const Best best = call.match.classes == 0
                          ? Best{index_of(row[5]), row[4]}
                          : best_of(row.subspan(kBoxNumbers, static_cast<size_t>(call.match.classes)));
    add_above(call.threshold, from_centre(row[0], row[1], row[2], row[3]), best, found);
  }
}

struct Queries {
  size_t boxes;
  size_t logits;
  int64_t count;
  int64_t width;
};

/// Finds the outputs [N, q, 4] and [N, q, k].
std::optional<Queries> query_outputs(const Signature& signature) {
  auto boxes = output_named(signature, {"pred_boxes"});
  if (!boxes)
    boxes = output_where(signature, {}, [](const OutputInfo& output) {
      return is_float(output.dtype) && output.shape.size() == 3 && output.shape[2] == kBoxNumbers;
    });
  if (!boxes || signature.outputs[*boxes].shape.size() != 3) return std::nullopt;
  const int64_t count = signature.outputs[*boxes].shape[1];
  auto logits = output_named(signature, {"logits", "pred_logits"});
  if (!logits)
    logits = output_where(signature, {*boxes}, [count](const OutputInfo& output) {
      return is_float(output.dtype) && output.shape.size() == 3 && output.shape[1] == count;
    });
  if (!logits || count > kMostQueries) return std::nullopt;
  const tensor::Shape& shape = signature.outputs[*logits].shape;
  return Queries{*boxes, *logits, count, shape.empty() ? 0 : shape.back()};
}

bool has_sigmoid(const Signature& signature, const Queries& queries) {
  if (signature.classes > 0 && signature.classes == queries.width) return true;
  if (signature.classes > 0 && signature.classes == queries.width - 1) return false;
  return queries.count == kQueriesOfSigmoid;
}

std::vector<Role> roles_of(const Queries& queries) {
  return {{queries.boxes, {0, kBoxNumbers}}, {queries.logits, {0, queries.width}}};
}

std::optional<Match> match_detr(const Signature& signature, bool forced) {
  const auto queries = query_outputs(signature);
  if (!queries || queries->width < 2) return std::nullopt;
  if (!forced && has_sigmoid(signature, *queries)) return std::nullopt;
  return Match{
      roles_of(*queries), queries->width - 1,
      "a softmax whose last class is 'no object' (--decoder rtdetr-logits: a sigmoid for each class)"};
}

std::optional<Match> match_rtdetr_logits(const Signature& signature, bool forced) {
  const auto queries = query_outputs(signature);
  if (!queries || queries->width < 1) return std::nullopt;
  if (!forced && !has_sigmoid(signature, *queries)) return std::nullopt;
  return Match{roles_of(*queries), queries->width,
               "a sigmoid for each class (--decoder detr: a softmax with 'no object')"};
}

/// Returns the best of the first `classes` classes, which are objects. Later ones (no object) only add to the
/// sum.
Best softmax_best(std::span<const float> logits, int64_t classes) {
  Best best = best_of(logits.first(static_cast<size_t>(classes)));
  const float highest = best_of(logits).score;
  float sum = 0;
  for (const float logit : logits) sum += std::exp(logit - highest);
  best.score = std::exp(best.score - highest) / sum;
  return best;
}

void decode_detr(const DecodeCall& call, std::vector<Detection>* found) {
  const Rows boxes(call, 0);
  const Rows logits(call, 1);
  const int64_t count = common_count({&boxes, &logits});
  for (int64_t i = 0; i < count; ++i) {
    const auto box = boxes.row(i);
    add_above(call.threshold, from_centre(box[0], box[1], box[2], box[3]),
              softmax_best(logits.row(i), call.match.classes), found);
  }
}

void decode_rtdetr_logits(const DecodeCall& call, std::vector<Detection>* found) {
  const Rows boxes(call, 0);
  const Rows logits(call, 1);
  const int64_t count = common_count({&boxes, &logits});
  for (int64_t i = 0; i < count; ++i) {
    const auto box = boxes.row(i);
    Best best = best_of(logits.row(i));
    best.score = 1 / (1 + std::exp(-best.score));
    add_above(call.threshold, from_centre(box[0], box[1], box[2], box[3]), best, found);
  }
}

/// boxes [N, n, 1, 4], confs [N, n, nc].
std::optional<Match> match_boxes_confs(const Signature& signature, bool /*forced*/) {
  const auto boxes = output_where(signature, {}, [](const OutputInfo& output) {
    return is_float(output.dtype) && output.shape.size() == 4 && output.shape[2] == 1 &&
           output.shape[3] == kBoxNumbers;
  });
  if (!boxes) return std::nullopt;
  const int64_t count = signature.outputs[*boxes].shape[1];
  const auto confidences = output_where(signature, {*boxes}, [count](const OutputInfo& output) {
    return is_float(output.dtype) && output.shape.size() == 3 && output.shape[1] == count;
  });
  if (!confidences) return std::nullopt;
  const int64_t classes = signature.outputs[*confidences].shape[2];
  return Match{{{*boxes, {0, 1, kBoxNumbers}}, {*confidences, {0, classes}}},
               classes,
               "corners in 0..1 of the image, which was resized without padding"};
}

void decode_boxes_confs(const DecodeCall& call, std::vector<Detection>* found) {
  const Rows boxes(call, 0);
  const Rows confidences(call, 1);
  const int64_t count = common_count({&boxes, &confidences});
  for (int64_t i = 0; i < count; ++i) {
    const auto box = boxes.row(i);
    add_above(call.threshold, {box[0], box[1], box[2], box[3]}, best_of(confidences.row(i)), found);
  }
}

constexpr InputForm kStretched{Fit::kStretch};
constexpr InputForm kAsDetr{Fit::kStretch, 0, false, 1.0f / 255, true, true};

}  // namespace

const Decoder kRtdetr{
    "rtdetr",     "RT-DETR of Ultralytics: [N, n, 4 + classes] or [N, n, 6], centres and sides in 0..1",
    kStretched,   Space::kInputShare,
    false,        match_rtdetr,
    decode_rtdetr};
const Decoder kDetr{
    "detr",     "DETR: logits [N, n, classes + 1], pred_boxes [N, n, 4], centres and sides in 0..1",
    kAsDetr,    Space::kInputShare,
    false,      match_detr,
    decode_detr};
const Decoder kRtdetrLogits{"rtdetr-logits",
                            "RT-DETR and deformable DETR of transformers: logits [N, n, classes], pred_boxes",
                            kStretched,
                            Space::kInputShare,
                            false,
                            match_rtdetr_logits,
                            decode_rtdetr_logits};
const Decoder kBoxesConfs{"boxes-confs",
                          "exports of darknet's networks: boxes [N, n, 1, 4] in 0..1, confs [N, n, classes]",
                          kStretched,
                          Space::kInputShare,
                          true,
                          match_boxes_confs,
                          decode_boxes_confs};

}  // namespace hone::task
