// See rows.hpp.
#include "task/decoders/rows.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace hone::task {

Rows::Rows(const tensor::Tensor& output, int64_t row, size_t rank) {
  converted_ = output.dtype() == tensor::DType::kFloat32 ? output : output.cast(tensor::DType::kFloat32);
  const tensor::Shape& shape = converted_.shape();
  values_ = converted_.values<float>();
  shape_ = shape;
  if (shape.size() == rank) return;
  if (shape.size() != rank + 1 || row >= shape[0])
    fail_bad_input("an output of the shape {} has no part for image {} of a batch", tensor::shape_text(shape),
                   row);
  shape_.erase(shape_.begin());
  const size_t size = values_.size() / static_cast<size_t>(shape[0]);
  values_ = values_.subspan(static_cast<size_t>(row) * size, size);
}

Best best_of(std::span<const float> scores) {
  Best best;
  if (scores.empty()) return best;
  const auto highest = std::max_element(scores.begin(), scores.end());
  return {highest - scores.begin(), *highest};
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
