// See rows.hpp.
#include "task/decoders/rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"

namespace hone::task {

Rows::Rows(const DecodeCall& call, size_t role, int64_t image) {
  const Role& form = call.match.roles[role];
  const tensor::Tensor& output = call.outputs[form.output];
  name_ = call.signature.outputs[form.output].name;
  converted_ = output.dtype() == tensor::DType::kFloat32 ? output : output.cast(tensor::DType::kFloat32);
  const tensor::Shape& shape = converted_.shape();
  values_ = converted_.values<float>();
  shape_ = shape;
  const bool has_batch = shape.size() == form.least.size() + 1;
  const int64_t images = has_batch ? shape[0] : 1;
  if (image >= images)
    fail_bad_input("the output {} [{}] has no part for image {} of a batch", name_, tensor::shape_text(shape),
                   image + 1);
  if (has_batch) {
    shape_.erase(shape_.begin());
    const size_t size = values_.size() / static_cast<size_t>(images);
    values_ = values_.subspan(static_cast<size_t>(image) * size, size);
  }
  count_ = shape_.back() == 0 ? 0 : static_cast<int64_t>(values_.size()) / shape_.back();
}

std::span<const float> Rows::row(int64_t index) const {
  if (index < 0 || index >= count_) fail_internal("row {} of {} rows of the output {}", index, count_, name_);
  const auto width = static_cast<size_t>(shape_.back());
  return values_.subspan(static_cast<size_t>(index) * width, width);
}

int64_t common_count(std::initializer_list<const Rows*> parts) {
  const Rows& first = **parts.begin();
  for (const Rows* part : parts)
    if (part->shape()[0] != first.shape()[0])
      fail_bad_input("its outputs {} and {} disagree: they have {} and {} rows for an image", first.name(),
                     part->name(), first.shape()[0], part->shape()[0]);
  return first.shape()[0];
}

Best best_of(std::span<const float> scores) {
  return best_of(BoxNumbers{scores.data(), 1}, 0, static_cast<int64_t>(scores.size()));
}

Best best_of(const BoxNumbers& numbers, int64_t first, int64_t count) {
  if (count == 0) return {};
  // Below every number, so that NaN is never the best.
  Best best{0, -std::numeric_limits<float>::infinity()};
  for (int64_t i = 0; i < count; ++i)
    if (numbers[first + i] > best.score) best = {i, numbers[first + i]};
  return best;
}

void add_above(float threshold, const Box& box, Best best, std::vector<Detection>* found) {
  if (!(best.score > threshold) || best.label < 0) return;
  const bool sound = std::isfinite(box.x1) && std::isfinite(box.y1) && std::isfinite(box.x2) &&
                     std::isfinite(box.y2) && std::isfinite(best.score);
  if (sound) found->push_back({box, best.score, best.label});
}

std::optional<size_t> output_named(const Signature& signature,
                                   std::initializer_list<std::string_view> names) {
  for (size_t i = 0; i < signature.outputs.size(); ++i)
    if (std::find(names.begin(), names.end(), signature.outputs[i].name) != names.end()) return i;
  return std::nullopt;
}

std::vector<int64_t> cell_counts(const Signature& signature) {
  std::vector<int64_t> counts;
  int64_t sum = 0;
  for (const int64_t stride : {8, 16, 32, 64}) {
    sum += ((signature.input_width + stride - 1) / stride) * ((signature.input_height + stride - 1) / stride);
    if (stride >= 32) counts.push_back(sum);
  }
  return counts;
}

}  // namespace hone::task
