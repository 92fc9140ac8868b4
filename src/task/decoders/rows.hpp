// Helpers of decoders: reading rows of outputs as float, and finding outputs that fit a form.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "task/decoder.hpp"

namespace hone::task {

/// Coordinates that are shares of the image are not larger than this, even where boxes reach over its edges.
inline constexpr float kMostShare = 1.5f;

/// One image's part of an output as float; other types are converted.
class Rows {
 public:
  /// `role` is an index into call.match.roles. An output without a batch dimension belongs to the only image.
  /// Bad input if the output has no part for the call's image.
  Rows(const DecodeCall& call, size_t role) : Rows(call, role, call.row) {}
  /// Reads the rows of this image of the batch, not those of the call's image.
  Rows(const DecodeCall& call, size_t role, int64_t image);

  const std::string& name() const { return name_; }
  std::span<const float> values() const { return values_; }
  /// The shape of one image's part, at least as large as the role requires.
  const tensor::Shape& shape() const { return shape_; }
  /// Number of rows, whose length is the last dimension.
  int64_t count() const { return count_; }
  /// Internal error for an index out of range.
  std::span<const float> row(int64_t index) const;

 private:
  std::string name_;
  int64_t count_ = 0;
  tensor::Tensor converted_;
  std::span<const float> values_;
  tensor::Shape shape_;
};

/// Appends the boxes of all heads for the call's image, in the order of heads, boxes and classes.
void decode_heads(const Decoder& decoder, const DecodeCall& call, std::vector<Detection>* found);

/// Returns the number of rows that all of these have; bad input if the numbers differ. The number of rows is
/// the first dimension.
int64_t common_count(std::initializer_list<const Rows*> parts);

struct Best {
  int64_t label = 0;
  float score = 0;
};
/// Returns the first of the highest scores. NaN is ignored; without other numbers the result is minus
/// infinity.
Best best_of(std::span<const float> scores);

/// Converts a class or index that a network gives as a float; returns -1 if it is impossible.
inline int64_t index_of(float number) {
  constexpr float kMost = 1e6f;
  return number >= 0 && number <= kMost ? static_cast<int64_t>(number) : -1;
}

using engine::box::from_centre;

/// Appends the detection if its score is above the threshold. Ignores it if it has no class or a side that is
/// not a finite number.
void add_above(float threshold, const Box& box, Best best, std::vector<Detection>* found);

std::optional<size_t> output_named(const Signature& signature, std::initializer_list<std::string_view> names);
/// Returns the first output that satisfies the condition and is not in `taken`.
template <class Wanted>
std::optional<size_t> output_where(const Signature& signature, const std::vector<size_t>& taken,
                                   const Wanted& wanted) {
  for (size_t i = 0; i < signature.outputs.size(); ++i) {
    bool is_taken = false;
    for (const size_t other : taken) is_taken = is_taken || other == i;
    if (!is_taken && wanted(signature.outputs[i])) return i;
  }
  return std::nullopt;
}

inline bool is_float(tensor::DType dtype) {
  return dtype == tensor::DType::kFloat32 || dtype == tensor::DType::kFloat16 ||
         dtype == tensor::DType::kBFloat16 || dtype == tensor::DType::kFloat64;
}

/// Possible numbers of cells of all heads: the sum of (w / s) (h / s) over the strides 8, 16, 32 and, for
/// networks with four heads, 64.
std::vector<int64_t> cell_counts(const Signature& signature);

extern const Decoder kYolov5;
extern const Decoder kYolov8;
extern const Decoder kYolox;
extern const Decoder kYolov7Raw;
extern const Decoder kEndToEnd;
extern const Decoder kYolov7Nms;
extern const Decoder kEfficientNms;
extern const Decoder kTensorflow;
extern const Decoder kRtdetr;
extern const Decoder kRtdetrOriginal;
extern const Decoder kDetr;
extern const Decoder kRtdetrLogits;
extern const Decoder kSsd;
extern const Decoder kTorchvision;
extern const Decoder kBoxesConfs;
extern const Decoder kDarknet;
extern const Decoder kDarknetGrid;

}  // namespace hone::task
