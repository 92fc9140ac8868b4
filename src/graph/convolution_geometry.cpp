// See convolution_geometry.hpp.
#include "graph/convolution_geometry.hpp"

#include <algorithm>
#include <string>

#include "base/checked.hpp"

namespace hone::graph {
namespace {

using base::checked_add;
using base::checked_mul;

int64_t ceil_divide(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

AutoPad read_auto_pad(const Attributes& attributes) {
  const std::string text = attributes.get_or<std::string>("auto_pad", "NOTSET");
  if (text == "NOTSET" || text.empty()) return AutoPad::kNotSet;
  if (text == "SAME_UPPER") return AutoPad::kSameUpper;
  if (text == "SAME_LOWER") return AutoPad::kSameLower;
  if (text == "VALID") return AutoPad::kValid;
  fail_bad_input("attribute 'auto_pad' is '{}', expected NOTSET, SAME_UPPER, SAME_LOWER or VALID", text);
}

/// The list, or `count` times `fallback` if it is absent or empty; every entry must be at least `minimum`.
std::vector<int64_t> read_list(const Attributes& attributes, const char* name, size_t count, int64_t fallback,
                               int64_t minimum) {
  auto list = attributes.get_or<std::vector<int64_t>>(name, {});
  if (list.empty()) list.assign(count, fallback);
  if (list.size() != count) {
    fail_bad_input("attribute '{}' has {} entries, expected {}", name, list.size(), count);
  }
  for (const int64_t entry : list) {
    if (entry < minimum) {
      fail_bad_input("attribute '{}' holds {}, expected at least {}", name, entry, minimum);
    }
  }
  return list;
}

/// Padding for an output length of ceil(input / stride); independent of the input if the stride is 1.
int64_t same_padding(int64_t input, int64_t extent, int64_t stride) {
  const int64_t output = ceil_divide(input, stride);
  return std::max<int64_t>(0, checked_add(checked_mul(output - 1, stride), extent) - input);
}

void split_padding(WindowAxis& axis, int64_t total, bool upper) {
  axis.pad_begin = upper ? total / 2 : total - total / 2;
  axis.pad_end = total - axis.pad_begin;
}

std::vector<int64_t> spatial_part(std::span<const int64_t> shape) { return {shape.begin() + 2, shape.end()}; }

/// Rank and group checks for both Conv and ConvTranspose; returns the group.
int64_t check_operands(const Attributes& attributes, std::span<const int64_t> x, std::span<const int64_t> w) {
  if (x.size() < 3) fail_bad_input("input 0 has rank {}, expected at least 3", x.size());
  if (w.size() != x.size()) fail_bad_input("input 1 has rank {}, expected {}", w.size(), x.size());
  const int64_t group = attributes.get_int("group");
  if (group < 1) fail_bad_input("attribute 'group' is {}, expected at least 1", group);
  return group;
}

std::vector<int64_t> known_kernel(const Attributes& attributes, std::span<const int64_t> w) {
  return *kernel_sizes(attributes, Dims(w.begin(), w.end()));
}

}  // namespace

Range taps_inside(const WindowAxis& axis, int64_t o, int64_t before, int64_t after) {
  const int64_t start = axis.position(o, 0);
  const int64_t room = axis.input + after - start;
  Range range;
  range.begin = start >= -before ? 0 : ceil_divide(-before - start, axis.dilation);
  range.end = room <= 0 ? 0 : std::min(axis.kernel, ceil_divide(room, axis.dilation));
  return range;
}

Range outputs_inside(const WindowAxis& axis, int64_t tap) {
  const int64_t offset = axis.position(0, tap);
  Range range;
  range.begin = offset >= 0 ? 0 : ceil_divide(-offset, axis.stride);
  range.end = offset >= axis.input ? 0 : std::min(axis.output, ceil_divide(axis.input - offset, axis.stride));
  return range;
}

Window read_window(const Attributes& attributes, std::vector<int64_t> kernel) {
  const size_t rank = kernel.size();
  Window window;
  window.auto_pad = read_auto_pad(attributes);
  window.ceil_mode = attributes.get_or<int64_t>("ceil_mode", 0) != 0;
  window.strides = read_list(attributes, "strides", rank, 1, 1);
  window.dilations = read_list(attributes, "dilations", rank, 1, 1);
  for (size_t i = 0; i < rank; ++i) {
    if (kernel[i] < 1) fail_bad_input("kernel size {} of spatial axis {} is not positive", kernel[i], i);
    checked_add(checked_mul(kernel[i] - 1, window.dilations[i]), int64_t{1});
  }
  window.kernel = std::move(kernel);
  const auto pads = read_list(attributes, "pads", 2 * rank, 0, 0);
  window.pads_begin.assign(rank, 0);
  window.pads_end.assign(rank, 0);
  if (window.auto_pad == AutoPad::kNotSet) {
    const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(rank);
    window.pads_begin.assign(pads.begin(), middle);
    window.pads_end.assign(middle, pads.end());
  }
  return window;
}

std::optional<std::vector<int64_t>> kernel_sizes(const Attributes& attributes,
                                                 const std::optional<Dims>& weight) {
  auto kernel = attributes.get_or<std::vector<int64_t>>("kernel_shape", {});
  if (!weight) return kernel.empty() ? std::nullopt : std::optional(kernel);
  if (weight->size() < 3) fail_bad_input("input 1 has rank {}, expected at least 3", weight->size());
  const size_t rank = weight->size() - 2;
  if (!kernel.empty() && kernel.size() != rank) {
    fail_bad_input("attribute 'kernel_shape' has {} entries, expected {}", kernel.size(), rank);
  }
  const bool given = !kernel.empty();
  kernel.resize(rank);
  for (size_t i = 0; i < rank; ++i) {
    const Dim& dim = (*weight)[i + 2];
    if (!dim.known()) {
      if (!given) return std::nullopt;
      continue;
    }
    if (given && kernel[i] != dim.value()) {
      fail_bad_input("attribute 'kernel_shape' holds {} where input 1 has {}", kernel[i], dim.value());
    }
    kernel[i] = dim.value();
  }
  return kernel;
}

WindowAxis resolve_axis(const Window& window, size_t axis, int64_t input) {
  WindowAxis result{.input = input,
                    .kernel = window.kernel[axis],
                    .stride = window.strides[axis],
                    .dilation = window.dilations[axis],
                    .pad_begin = window.pads_begin[axis],
                    .pad_end = window.pads_end[axis]};
  if (window.auto_pad == AutoPad::kSameUpper || window.auto_pad == AutoPad::kSameLower) {
    const int64_t total = same_padding(input, result.extent(), result.stride);
    split_padding(result, total, window.auto_pad == AutoPad::kSameUpper);
  }
  const int64_t padded = checked_add(checked_add(input, result.pad_begin), result.pad_end);
  const int64_t room = padded - result.extent();
  if (room < 0) {
    fail_bad_input("a window of {} does not fit spatial axis {}, {} long with its padding", result.extent(),
                   axis, padded);
  }
  result.output = room / result.stride + 1;
  // A window that ceil_mode adds counts only if it starts in the input or the padding before it.
  if (window.ceil_mode && room % result.stride != 0 && result.position(result.output, 0) < input) {
    ++result.output;
  }
  return result;
}

std::vector<WindowAxis> resolve_window(const Window& window, std::span<const int64_t> spatial) {
  if (spatial.size() != window.rank()) {
    fail_bad_input("{} spatial axes for a window of {}", spatial.size(), window.rank());
  }
  std::vector<WindowAxis> axes;
  for (size_t i = 0; i < spatial.size(); ++i) axes.push_back(resolve_axis(window, i, spatial[i]));
  return axes;
}

Dim window_output(const Window& window, size_t axis, const Dim& input) {
  if (input.known()) return resolve_axis(window, axis, input.value()).output;
  if (window.strides[axis] != 1) return {};
  if (window.auto_pad == AutoPad::kSameUpper || window.auto_pad == AutoPad::kSameLower) return input;
  const int64_t pads = checked_add(window.pads_begin[axis], window.pads_end[axis]);
  return input + Dim(pads - window.extent(axis) + 1);
}

int64_t Convolution::kernel_size() const {
  int64_t size = 1;
  for (const WindowAxis& axis : axes) size = checked_mul(size, axis.kernel);
  return size;
}

std::vector<int64_t> Convolution::output_shape() const {
  std::vector<int64_t> shape{batch, out_channels};
  for (const WindowAxis& axis : axes) shape.push_back(axis.output);
  return shape;
}

Convolution read_convolution(const Attributes& attributes, std::span<const int64_t> x,
                             std::span<const int64_t> w) {
  const int64_t group = check_operands(attributes, x, w);
  if (w[0] % group != 0) fail_bad_input("{} output channels do not divide into {} groups", w[0], group);
  if (x[1] % group != 0 || x[1] / group != w[1]) {
    fail_bad_input("input 0 has {} channels, but input 1 takes {} in {} groups", x[1], w[1], group);
  }
  const Window window = read_window(attributes, known_kernel(attributes, w));
  return {.batch = x[0],
          .in_channels = x[1],
          .out_channels = w[0],
          .group = group,
          .axes = resolve_window(window, spatial_part(x))};
}

Dim transposed_output(const Window& window, const Attributes& attributes, size_t axis, const Dim& input) {
  const auto wanted = attributes.get_or<std::vector<int64_t>>("output_shape", {});
  if (!wanted.empty()) {
    if (wanted.size() != window.rank()) {
      fail_bad_input("attribute 'output_shape' has {} entries, expected {}", wanted.size(), window.rank());
    }
    if (wanted[axis] < 1) fail_bad_input("attribute 'output_shape' holds {}", wanted[axis]);
    return wanted[axis];
  }
  const int64_t stride = window.strides[axis];
  if (window.auto_pad == AutoPad::kSameUpper || window.auto_pad == AutoPad::kSameLower) {
    return input * Dim(stride);
  }
  const auto extra = read_list(attributes, "output_padding", window.rank(), 0, 0);
  const int64_t pads = checked_add(window.pads_begin[axis], window.pads_end[axis]);
  const int64_t constant = checked_add(window.extent(axis) - pads, extra[axis]) - stride;
  const Dim output = input * Dim(stride) + Dim(constant);
  if (output.known() && output.value() < 1) {
    fail_bad_input("spatial axis {} of the output would have the size {}", axis, output.value());
  }
  return output;
}

Convolution read_transposed_convolution(const Attributes& attributes, std::span<const int64_t> x,
                                        std::span<const int64_t> w) {
  const int64_t group = check_operands(attributes, x, w);
  if (x[1] % group != 0) fail_bad_input("{} channels do not divide into {} groups", x[1], group);
  if (w[0] != x[1]) fail_bad_input("input 0 has {} channels, but input 1 takes {}", x[1], w[0]);
  const Window window = read_window(attributes, known_kernel(attributes, w));
  Convolution result{
      .batch = x[0], .in_channels = checked_mul(w[1], group), .out_channels = x[1], .group = group};
  const bool explicit_shape = !attributes.get_or<std::vector<int64_t>>("output_shape", {}).empty();
  const bool automatic =
      explicit_shape || window.auto_pad == AutoPad::kSameUpper || window.auto_pad == AutoPad::kSameLower;
  const auto extra = read_list(attributes, "output_padding", window.rank(), 0, 0);
  for (size_t i = 0; i < window.rank(); ++i) {
    WindowAxis axis{.input = transposed_output(window, attributes, i, x[i + 2]).value(),
                    .output = x[i + 2],
                    .kernel = window.kernel[i],
                    .stride = window.strides[i],
                    .dilation = window.dilations[i],
                    .pad_begin = window.pads_begin[i],
                    .pad_end = window.pads_end[i]};
    if (automatic) {
      const int64_t natural =
          checked_add(checked_add(checked_mul(axis.stride, axis.output - 1), extra[i]), axis.extent());
      const int64_t total = std::max<int64_t>(0, natural - axis.input);
      split_padding(axis, total, window.auto_pad == AutoPad::kSameUpper);
    }
    result.axes.push_back(axis);
  }
  return result;
}

std::vector<WindowAxis> pool_axes(const Attributes& pool, std::span<const int64_t> x) {
  return resolve_window(read_window(pool, pool.get_ints("kernel_shape")), x.subspan(2));
}

}  // namespace hone::graph
