// Reference kernels that join, cut, repeat or pad parts of tensors. Pad is in shape_pad.cpp.
#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "reference/kernels/pad.hpp"
#include "reference/kernels/parts.hpp"
#include "reference/strided.hpp"

namespace hone::reference {
namespace {

void concat(KernelContext& context) {
  const Tensor& first = context.input(0);
  const auto axis =
      static_cast<size_t>(tensor::normalize_axis(context.attributes().get_int("axis"), first.rank()));
  Shape shape = first.shape();
  shape[axis] = 0;
  for (size_t i = 0; i < context.inputs.size(); ++i) {
    const Tensor& x = context.input(i);
    Shape expected = shape;
    if (x.rank() == first.rank()) expected[axis] = x.shape()[axis];
    if (x.shape() != expected || x.dtype() != first.dtype()) {
      fail_bad_input("input {} is {}[{}], which does not join {}[{}]", i, tensor::dtype_name(x.dtype()),
                     tensor::shape_text(x.shape()), tensor::dtype_name(first.dtype()),
                     tensor::shape_text(first.shape()));
    }
    shape[axis] = base::checked_add(shape[axis], x.shape()[axis]);
  }
  Tensor& y = context.make_output(0, first.dtype(), std::move(shape));
  View target = whole(y.shape());
  for (size_t i = 0; i < context.inputs.size(); ++i) {
    const Tensor& x = context.input(i);
    copy(x.shape(), x, whole(x.shape()), y, target);
    target.offset += x.shape()[axis] * target.strides[axis];
  }
}

/// Lengths of the parts along an axis of `length`.
std::vector<int64_t> split_lengths(const KernelContext& context, int64_t length) {
  const auto count = static_cast<int64_t>(context.outputs.size());
  if (!context.has_input(1)) {
    const int64_t part = (length + count - 1) / count;
    std::vector<int64_t> lengths(context.outputs.size(), part);
    lengths.back() = length - part * (count - 1);
    if (lengths.back() < 0)
      fail_bad_input("an axis of length {} cannot be split into {} parts", length, count);
    return lengths;
  }
  auto lengths = context.input(1).to_int64();
  int64_t sum = 0;
  for (const int64_t part : lengths) {
    if (part < 0) fail_bad_input("input 'split' has length {}", part);
    sum = base::checked_add(sum, part);
  }
  if (static_cast<int64_t>(lengths.size()) != count || sum != length) {
    fail_bad_input("{} parts of {} elements for {} outputs and an axis of length {}", lengths.size(), sum,
                   count, length);
  }
  return lengths;
}

void split(KernelContext& context) {
  const Tensor& x = context.input(0);
  const auto axis =
      static_cast<size_t>(tensor::normalize_axis(context.attributes().get_int("axis"), x.rank()));
  View view = whole(x.shape());
  const auto lengths = split_lengths(context, x.shape()[axis]);
  for (size_t i = 0; i < lengths.size(); ++i) {
    Shape shape = x.shape();
    shape[axis] = lengths[i];
    context.outputs[i] = gathered(x, view, std::move(shape));
    view.offset += lengths[i] * view.strides[axis];
  }
}

/// Cuts one axis of a view to [start, end) in steps, as ONNX clamps them.
void cut(View& view, int64_t& length, size_t axis, int64_t start, int64_t end, int64_t step) {
  if (step == 0) fail_bad_input("a step is 0");
  if (length == 0) return;
  const int64_t highest = step > 0 ? length : length - 1;
  const auto clamped = [&](int64_t at, int64_t lowest) {
    return std::clamp(at < 0 ? at + length : at, lowest, highest);
  };
  // A start is inside the axis, also for negative steps; only an end may be before the axis.
  const int64_t first = clamped(start, 0);
  const int64_t distance = step > 0 ? clamped(end, 0) - first : first - clamped(end, -1);
  // The smallest integer cannot be negated; no axis is longer than the step that replaces it.
  const int64_t stride = step == INT64_MIN ? INT64_MAX : std::abs(step);
  length = distance <= 0 ? 0 : (distance - 1) / stride + 1;
  view.offset += first * view.strides[axis];
  if (length > 1) view.strides[axis] *= step;
}

void slice(KernelContext& context) {
  const Tensor& x = context.input(0);
  const auto starts = context.input(1).to_int64();
  const auto ends = context.input(2).to_int64();
  std::vector<int64_t> axes(starts.size());
  std::iota(axes.begin(), axes.end(), 0);
  std::vector<int64_t> steps(starts.size(), 1);
  if (context.has_input(3)) axes = context.input(3).to_int64();
  if (context.has_input(4)) steps = context.input(4).to_int64();
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) {
    fail_bad_input("{} starts, {} ends, {} axes and {} steps", starts.size(), ends.size(), axes.size(),
                   steps.size());
  }
  axes = distinct_axes(axes, x.rank());
  View view = whole(x.shape());
  Shape shape = x.shape();
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(axes[i]);
    cut(view, shape[axis], axis, starts[i], ends[i], steps[i]);
  }
  context.outputs[0] = gathered(x, view, std::move(shape));
}

void expand(KernelContext& context) {
  const Tensor& x = context.input(0);
  Shape shape = tensor::broadcast_shapes(x.shape(), context.input(1).to_int64());
  const View view{0, tensor::broadcast_strides(x.shape(), shape)};
  context.outputs[0] = gathered(x, view, std::move(shape));
}

void tile(KernelContext& context) {
  const Tensor& x = context.input(0);
  const auto repeats = context.input(1).to_int64();
  if (static_cast<int64_t>(repeats.size()) != x.rank()) {
    fail_bad_input("{} repeats for an input of rank {}", repeats.size(), x.rank());
  }
  // Every axis becomes two: the repetitions, with stride 0, and the axis itself.
  const View own = whole(x.shape());
  View view;
  Shape pairs;
  Shape shape;
  for (size_t i = 0; i < repeats.size(); ++i) {
    pairs.insert(pairs.end(), {repeats[i], x.shape()[i]});
    view.strides.insert(view.strides.end(), {0, own.strides[i]});
    shape.push_back(base::checked_mul(repeats[i], x.shape()[i]));
  }
  context.outputs[0] = gathered(x, view, std::move(pairs)).reshaped(std::move(shape));
}

/// Crops and pads around the centre; if the difference is odd, the end gets one element more.
void center_crop_pad(KernelContext& context) {
  const Tensor& x = context.input(0);
  const auto wanted = context.input(1).to_int64();
  std::vector<int64_t> axes(x.shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  axes = distinct_axes(context.attributes().get_or("axes", axes), x.rank());
  if (wanted.size() != axes.size()) fail_bad_input("{} lengths for {} axes", wanted.size(), axes.size());
  Shape shape = x.shape();
  for (size_t i = 0; i < axes.size(); ++i) shape[static_cast<size_t>(axes[i])] = wanted[i];
  Tensor& y = context.make_output(0, x.dtype(), std::move(shape));
  std::fill_n(y.mutable_bytes(), y.byte_size(), std::byte{0});
  View from = whole(x.shape());
  View to = whole(y.shape());
  Shape common = x.shape();
  for (const int64_t value : axes) {
    const auto axis = static_cast<size_t>(value);
    const int64_t cropped = x.shape()[axis] - y.shape()[axis];
    common[axis] = std::min(x.shape()[axis], y.shape()[axis]);
    if (cropped > 0) from.offset += cropped / 2 * from.strides[axis];
    if (cropped < 0) to.offset += -cropped / 2 * to.strides[axis];
  }
  copy(common, x, from, y, to);
}

constexpr KernelEntry kKernels[] = {
    {"CenterCropPad", center_crop_pad},
    {"Concat", concat},
    {"Expand", expand},
    {"Pad", pad},
    {"Slice", slice},
    {"Split", split},
    {"Tile", tile},
};

}  // namespace

std::span<const KernelEntry> region_kernels() { return kKernels; }

}  // namespace hone::reference
