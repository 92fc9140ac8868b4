// Operators whose number of result rows depends on data: NonMaxSuppression, NonZero and Compress. They take
// and give whole tensors, since no memory can be planned for them.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "device/cpu/clones.hpp"
#include "device/cpu/ranges.hpp"
#include "engine/program/host_functions.hpp"
#include "reference/kernel.hpp"
#include "tensor/tensor.hpp"

namespace hone::device::cpu {
namespace {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

using Inputs = std::vector<const Tensor*>;

/// Pairs of boxes, about, from which threads are worth their start.
constexpr int64_t kWorthThreads = 1 << 14;
/// Kept boxes that are compared before the answer is asked for.
constexpr size_t kBlock = 64;

/// Boxes by their corners, and their areas.
struct Boxes {
  std::vector<double> y0, x0, y1, x1, area;

  explicit Boxes(size_t count) : y0(count), x0(count), y1(count), x1(count), area(count) {}

  void push(const Boxes& from, size_t at) {
    y0.push_back(from.y0[at]);
    x0.push_back(from.x0[at]);
    y1.push_back(from.y1[at]);
    x1.push_back(from.x1[at]);
    area.push_back(from.area[at]);
  }
};

/// From two opposite corners in any order, or from (x centre, y centre, width, height).
Boxes read_boxes(const float* values, size_t count, bool centered) {
  Boxes boxes(count);
  for (size_t i = 0; i < count; ++i, values += 4) {
    const double a = values[0];
    const double b = values[1];
    const double c = values[2];
    const double d = values[3];
    boxes.y0[i] = centered ? a - c / 2 : std::min(a, c);
    boxes.x0[i] = centered ? b - d / 2 : std::min(b, d);
    boxes.y1[i] = centered ? a + c / 2 : std::max(a, c);
    boxes.x1[i] = centered ? b + d / 2 : std::max(b, d);
    boxes.area[i] = (boxes.y1[i] - boxes.y0[i]) * (boxes.x1[i] - boxes.x0[i]);
  }
  return boxes;
}

/// True if a box shares more than `limit` of its union with one of those from `begin` to `end`.
HONE_CLONES bool overlaps_one(const double* box, const double* y0, const double* x0, const double* y1,
                              const double* x1, const double* area, size_t begin, size_t end, double limit) {
  int found = 0;
#pragma omp simd reduction(| : found)
  for (size_t k = begin; k < end; ++k) {
    const double height = std::min(box[2], y1[k]) - std::max(box[0], y0[k]);
    const double width = std::min(box[3], x1[k]) - std::max(box[1], x0[k]);
    const double common = height * width;
    const double together = box[4] + area[k] - common;
    const bool meets = (height > 0) & (width > 0) & (together > 0);
    found |= static_cast<int>(meets & (common / together > limit));
  }
  return found != 0;
}

/// Kept boxes by where they begin, in strips at least as high as the highest box, so that a box meets only
/// those of its strip and the two next to it. Models that move the boxes of each class far away from those of
/// others, so as to call one suppression for all, have many strips.
class KeptBoxes {
 public:
  KeptBoxes(const Boxes& boxes, const std::vector<int64_t>& candidates) {
    double last = -std::numeric_limits<double>::infinity();
    double highest = 0;
    bool finite = true;
    first_ = std::numeric_limits<double>::infinity();
    for (const int64_t i : candidates) {
      const auto at = static_cast<size_t>(i);
      finite = finite && std::isfinite(boxes.y0[at]) && std::isfinite(boxes.y1[at]);
      first_ = std::min(first_, boxes.y0[at]);
      last = std::max(last, boxes.y0[at]);
      highest = std::max(highest, boxes.y1[at] - boxes.y0[at]);
    }
    // A little higher, since rounding may move numbers across an edge.
    const double strips = (last - first_) / (1.01 * highest);
    if (finite && strips >= 1 && std::isfinite(strips)) {
      const auto count = static_cast<size_t>(std::min(strips, kMostStrips));
      per_unit_ = static_cast<double>(count) / (last - first_);
      strips_.resize(count + 1, Boxes(0));
    }
  }

  bool any_overlaps(const Boxes& boxes, size_t at, double limit) const {
    const size_t strip = strip_of(boxes, at);
    const double box[] = {boxes.y0[at], boxes.x0[at], boxes.y1[at], boxes.x1[at], boxes.area[at]};
    for (size_t i = strip == 0 ? 0 : strip - 1; i < std::min(strip + 2, strips_.size()); ++i) {
      const Boxes& kept = strips_[i];
      const size_t count = kept.area.size();
      for (size_t begin = 0; begin < count; begin += kBlock) {
        if (overlaps_one(box, kept.y0.data(), kept.x0.data(), kept.y1.data(), kept.x1.data(),
                         kept.area.data(), begin, std::min(begin + kBlock, count), limit))
          return true;
      }
    }
    return false;
  }

  void keep(const Boxes& boxes, size_t at) { strips_[strip_of(boxes, at)].push(boxes, at); }

 private:
  static constexpr double kMostStrips = 4096;

  size_t strip_of(const Boxes& boxes, size_t at) const {
    if (strips_.size() == 1) return 0;
    return std::min(static_cast<size_t>((boxes.y0[at] - first_) * per_unit_), strips_.size() - 1);
  }

  double first_ = 0;
  double per_unit_ = 0;
  std::vector<Boxes> strips_{Boxes(0)};
};

struct NmsOptions {
  size_t most = 0;
  double limit = 0;
  const float* lowest_score = nullptr;
};

/// Boxes in the order of falling score (the lower index first where scores are equal), each kept when it
/// overlaps no kept one by more than the limit.
std::vector<int64_t> select(const Boxes& boxes, const float* scores, const NmsOptions& options) {
  std::vector<int64_t> order;
  for (size_t i = 0; i < boxes.area.size(); ++i) {
    if (std::isnan(scores[i]) || (options.lowest_score != nullptr && !(scores[i] > *options.lowest_score)))
      continue;
    order.push_back(static_cast<int64_t>(i));
  }
  std::sort(order.begin(), order.end(),
            [&](int64_t i, int64_t k) { return scores[i] != scores[k] ? scores[i] > scores[k] : i < k; });
  const size_t most = std::min(options.most, order.size());
  KeptBoxes kept(boxes, order);
  std::vector<int64_t> result;
  for (const int64_t i : order) {
    if (result.size() >= most) break;
    const auto at = static_cast<size_t>(i);
    if (kept.any_overlaps(boxes, at, options.limit)) continue;
    kept.keep(boxes, at);
    result.push_back(i);
  }
  return result;
}

bool is_scalar_or_absent(const Inputs& inputs, size_t i) {
  return i >= inputs.size() || inputs[i] == nullptr || inputs[i]->size() == 1;
}

template <class T>
const T* scalar_input(const Inputs& inputs, size_t i) {
  return i < inputs.size() && inputs[i] != nullptr ? inputs[i]->values<T>().data() : nullptr;
}

/// Then boxes that do not meet count as overlapping.
bool has_negative_limit(const Inputs& inputs) {
  const auto* limit = scalar_input<float>(inputs, 3);
  return limit != nullptr && *limit < 0;
}

std::vector<Tensor> non_max_suppression(const graph::Node& node, const Inputs& inputs) {
  const Tensor& boxes = *inputs[0];
  const Tensor& scores = *inputs[1];
  const Shape& shape = scores.shape();
  const bool fits = shape.size() == 3 && boxes.shape() == Shape{shape[0], shape[2], 4} &&
                    is_scalar_or_absent(inputs, 2) && is_scalar_or_absent(inputs, 3) &&
                    is_scalar_or_absent(inputs, 4) && !has_negative_limit(inputs);
  // The reference says what is wrong.
  if (!fits) return reference::run_node(node, inputs);
  const auto* most = scalar_input<int64_t>(inputs, 2);
  const auto* limit = scalar_input<float>(inputs, 3);
  const NmsOptions options{
      .most = most == nullptr ? 0 : static_cast<size_t>(std::clamp<int64_t>(*most, 0, shape[2])),
      .limit = limit == nullptr ? 0 : static_cast<double>(*limit),
      .lowest_score = scalar_input<float>(inputs, 4)};
  const auto count = static_cast<size_t>(shape[2]);
  const bool centered = node.attributes.get_int("center_point_box") == 1;
  std::vector<Boxes> of_image;
  for (int64_t image = 0; image < shape[0]; ++image)
    of_image.push_back(
        read_boxes(boxes.values<float>().data() + static_cast<size_t>(image) * count * 4, count, centered));
  std::vector<std::vector<int64_t>> kept(static_cast<size_t>(shape[0] * shape[1]));
  in_ranges(
      shape[0] * shape[1], shape[0] * shape[1] * shape[2] > kWorthThreads, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          kept[static_cast<size_t>(row)] = select(of_image[static_cast<size_t>(row / shape[1])],
                                                  scores.values<float>().data() + row * shape[2], options);
        }
      });
  int64_t rows = 0;
  for (const auto& list : kept) rows += static_cast<int64_t>(list.size());
  Tensor result(DType::kInt64, {rows, 3});
  int64_t* to = result.mutable_values<int64_t>().data();
  for (size_t row = 0; row < kept.size(); ++row) {
    for (const int64_t i : kept[row]) {
      *to++ = static_cast<int64_t>(row) / shape[1];
      *to++ = static_cast<int64_t>(row) % shape[1];
      *to++ = i;
    }
  }
  return {std::move(result)};
}

template <class T>
int64_t count_nonzero(const T* x, int64_t n) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += x[i] != T{} ? 1 : 0;
  return count;
}

/// Positions of the elements that are not zero, one row an axis.
template <class T>
Tensor positions(const Tensor& input) {
  const T* x = reinterpret_cast<const T*>(input.bytes());
  const Shape& shape = input.shape();
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t count = count_nonzero(x, input.size());
  Tensor result(DType::kInt64, {rank, count});
  int64_t* to = result.mutable_values<int64_t>().data();
  if (count == 0 || rank == 0) return result;
  const int64_t length = shape.back();
  std::vector<int64_t> at(shape.size(), 0);
  for (int64_t row = 0; row * length < input.size(); ++row, x += length) {
    for (int64_t i = 0; i < length; ++i) {
      if (x[i] == T{}) continue;
      for (int64_t d = 0; d + 1 < rank; ++d) to[d * count] = at[static_cast<size_t>(d)];
      to[(rank - 1) * count] = i;
      ++to;
    }
    for (size_t d = shape.size() - 1; d-- > 0;) {
      if (++at[d] < shape[d]) break;
      at[d] = 0;
    }
  }
  return result;
}

std::vector<Tensor> non_zero(const graph::Node& node, const Inputs& inputs) {
  const Tensor& x = *inputs[0];
  if (x.rank() > 0) {
    switch (x.dtype()) {
      case DType::kBool: return {positions<uint8_t>(x)};
      case DType::kFloat32: return {positions<float>(x)};
      case DType::kInt32: return {positions<int32_t>(x)};
      case DType::kInt64: return {positions<int64_t>(x)};
      default: break;
    }
  }
  return reference::run_node(node, inputs);
}

std::vector<Tensor> compress(const graph::Node& node, const Inputs& inputs) {
  const Tensor& x = *inputs[0];
  const Tensor& mask = *inputs[1];
  const bool flat = !node.attributes.has("axis");
  const int64_t axis =
      flat ? 0 : tensor::normalize_axis(node.attributes.get_int("axis"), x.rank(), "attribute 'axis'");
  const int64_t length = flat ? x.size() : x.shape()[static_cast<size_t>(axis)];
  if (mask.rank() != 1 || mask.size() > length || mask.dtype() != DType::kBool)
    return reference::run_node(node, inputs);
  const auto* wanted = reinterpret_cast<const uint8_t*>(mask.bytes());
  const int64_t count = count_nonzero(wanted, mask.size());
  Shape shape = flat ? Shape{count} : x.shape();
  if (!flat) shape[static_cast<size_t>(axis)] = count;
  int64_t outer = 1;
  for (int64_t d = 0; d < axis; ++d) outer *= x.shape()[static_cast<size_t>(d)];
  Tensor result(x.dtype(), std::move(shape));
  if (x.size() == 0) return {std::move(result)};
  const size_t part = x.byte_size() / static_cast<size_t>(outer * length);
  std::byte* to = result.mutable_bytes();
  for (int64_t i = 0; i < outer; ++i) {
    const std::byte* from = x.bytes() + static_cast<size_t>(i * length) * part;
    for (int64_t j = 0; j < mask.size(); ++j) {
      if (wanted[j] == 0) continue;
      std::memcpy(to, from + static_cast<size_t>(j) * part, part);
      to += part;
    }
  }
  return {std::move(result)};
}

const engine::HostFunctions kFunctions({{"NonMaxSuppression", non_max_suppression},
                                        {"NonZero", non_zero},
                                        {"Compress", compress}});

}  // namespace
}  // namespace hone::device::cpu
