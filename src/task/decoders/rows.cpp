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
  if (scores.empty()) return {};
  // Starts below every number, so that NaN is never the best.
  Best best{0, -std::numeric_limits<float>::infinity()};
  for (size_t i = 0; i < scores.size(); ++i)
    if (scores[i] > best.score) best = {static_cast<int64_t>(i), scores[i]};
  return best;
}

namespace {

/// True for each box whose score can exceed the threshold. Reads the numbers in the order of memory.
std::vector<char> gates_passed(const engine::RowRule& rule, std::span<const float> values) {
  std::vector<char> passed(static_cast<size_t>(rule.boxes), 0);
  const auto look = [&](int64_t box, int64_t gate) {
    const auto at = static_cast<size_t>(rule.at(box) + (rule.first_gate + gate) * rule.number_stride);
    if (values[at] > rule.level) passed[static_cast<size_t>(box)] = 1;
  };
  if (rule.number_stride > rule.outer_stride) {
    for (int64_t gate = 0; gate < rule.gates; ++gate)
      for (int64_t box = 0; box < rule.boxes; ++box) look(box, gate);
  } else {
    for (int64_t box = 0; box < rule.boxes; ++box)
      for (int64_t gate = 0; gate < rule.gates; ++gate) look(box, gate);
  }
  return passed;
}

void decode_head(const engine::BoxHead& head, std::span<const float> values, std::vector<Detection>* found) {
  const std::vector<char> passed = gates_passed(head.rows, values);
  for (int64_t index = 0; index < head.rows.boxes; ++index) {
    if (passed[static_cast<size_t>(index)] == 0) continue;
    const engine::BoxNumbers<float> numbers{values.data() + head.rows.at(index), head.rows.number_stride};
    const int64_t answers = engine::box::answer_count(head, numbers);
    for (int64_t answer = 0; answer < answers; ++answer) {
      const engine::FoundBox one = engine::box::answer_of(head, index, numbers, answer);
      if (one.label >= 0) found->push_back({one.box, one.score, one.label});
    }
  }
}

}  // namespace

void decode_heads(const Decoder& decoder, const DecodeCall& call, std::vector<Detection>* found) {
  for (size_t role = 0; role < call.match.roles.size(); ++role) {
    const Rows rows(call, role);
    const HeadRule rule = decoder.head_rule(call, role, rows.shape());
    if (rule.head.rows.boxes == 0) continue;
    if (!rule.head.rows.is_sound())
      fail_internal("the boxes of the output {} lie outside of it", rows.name());
    decode_head(rule.get(), rows.values(), found);
  }
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
