// Reference kernels that give the same elements another shape or order.
#include <algorithm>
#include <numeric>

#include "reference/kernels/parts.hpp"
#include "reference/strided.hpp"

namespace hone::reference {
namespace {

void reshape(KernelContext& context) {
  const Tensor& x = context.input(0);
  const bool allow_zero = context.attributes().get_int("allowzero") != 0;
  Shape shape = context.input(1).to_int64();
  std::optional<size_t> hole;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !allow_zero) {
      if (i >= x.shape().size())
        fail_bad_input("dimension {} of the new shape is 0, the input has rank {}", i, x.rank());
      shape[i] = x.shape()[i];
    }
    if (shape[i] != -1) continue;
    if (hole) fail_bad_input("the new shape has two dimensions of -1");
    hole = i;
    shape[i] = 1;
  }
  if (hole) {
    const int64_t others = tensor::element_count(shape);
    if (others == 0 || x.size() % others != 0) {
      fail_bad_input("{} elements do not divide into {}", x.size(), others);
    }
    shape[*hole] = x.size() / others;
  }
  context.outputs[0] = x.reshaped(std::move(shape));
}

void flatten(KernelContext& context) {
  const Tensor& x = context.input(0);
  const int64_t axis = context.attributes().get_int("axis");
  if (axis < -x.rank() || axis > x.rank()) fail_bad_input("axis {} is outside rank {}", axis, x.rank());
  const auto split = static_cast<size_t>(axis < 0 ? axis + x.rank() : axis);
  const std::span<const int64_t> shape = x.shape();
  context.outputs[0] =
      x.reshaped({tensor::element_count(shape.first(split)), tensor::element_count(shape.subspan(split))});
}

void squeeze(KernelContext& context) {
  const Tensor& x = context.input(0);
  std::vector<bool> removed(x.shape().size(), false);
  if (context.has_input(1)) {
    for (const int64_t axis : distinct_axes(context.input(1).to_int64(), x.rank()))
      removed[static_cast<size_t>(axis)] = true;
  } else {
    for (size_t i = 0; i < removed.size(); ++i) removed[i] = x.shape()[i] == 1;
  }
  Shape shape;
  for (size_t i = 0; i < removed.size(); ++i) {
    if (!removed[i]) shape.push_back(x.shape()[i]);
  }
  context.outputs[0] = x.reshaped(std::move(shape));
}

void unsqueeze(KernelContext& context) {
  const Tensor& x = context.input(0);
  const auto axes = context.input(1).to_int64();
  const auto rank = x.rank() + static_cast<int64_t>(axes.size());
  std::vector<bool> added(static_cast<size_t>(rank), false);
  for (const int64_t axis : distinct_axes(axes, rank)) added[static_cast<size_t>(axis)] = true;
  Shape shape;
  size_t next = 0;
  for (const bool is_new : added) shape.push_back(is_new ? 1 : x.shape()[next++]);
  context.outputs[0] = x.reshaped(std::move(shape));
}

/// The input with its axes in the order of `perm`.
Tensor transposed(const Tensor& x, const std::vector<int64_t>& perm) {
  if (static_cast<int64_t>(perm.size()) != x.rank()) {
    fail_bad_input("a permutation of {} axes for an input of rank {}", perm.size(), x.rank());
  }
  const Shape strides = tensor::row_major_strides(x.shape());
  View view;
  Shape shape;
  for (const int64_t axis : distinct_axes(perm, x.rank())) {
    shape.push_back(x.shape()[static_cast<size_t>(axis)]);
    view.strides.push_back(strides[static_cast<size_t>(axis)]);
  }
  return gathered(x, view, std::move(shape));
}

void transpose(KernelContext& context) {
  const Tensor& x = context.input(0);
  std::vector<int64_t> perm(x.shape().size());
  std::iota(perm.rbegin(), perm.rend(), 0);
  context.outputs[0] = transposed(x, context.attributes().get_or("perm", perm));
}

void shape_of(KernelContext& context) {
  const Shape& shape = context.input(0).shape();
  const auto rank = static_cast<int64_t>(shape.size());
  const auto clamped = [&](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  const int64_t start = clamped(context.attributes().get_int("start"));
  const int64_t end = std::max(start, clamped(context.attributes().get_or<int64_t>("end", rank)));
  const std::vector<int64_t> part(shape.begin() + start, shape.begin() + end);
  context.outputs[0] = Tensor::of(part, {end - start});
}

void size_of(KernelContext& context) { context.outputs[0] = Tensor::scalar(context.input(0).size()); }

void require_image(const Tensor& x, int64_t block) {
  if (x.rank() != 4) fail_bad_input("input 0 has rank {}, expected 4", x.rank());
  if (block < 1 || block > 1 << 20) fail_bad_input("attribute 'blocksize' is {}", block);
}

void depth_to_space(KernelContext& context) {
  const Tensor& x = context.input(0);
  const int64_t block = context.attributes().get_int("blocksize");
  require_image(x, block);
  const auto [n, c, h, w] = std::array{x.shape()[0], x.shape()[1], x.shape()[2], x.shape()[3]};
  if (c % (block * block) != 0) fail_bad_input("{} channels are no multiple of {}", c, block * block);
  const int64_t depth = c / (block * block);
  const Tensor y = context.attributes().get_string("mode") == "DCR"
                       ? transposed(x.reshaped({n, block, block, depth, h, w}), {0, 3, 4, 1, 5, 2})
                       : transposed(x.reshaped({n, depth, block, block, h, w}), {0, 1, 4, 2, 5, 3});
  context.outputs[0] = y.reshaped({n, depth, h * block, w * block});
}

void space_to_depth(KernelContext& context) {
  const Tensor& x = context.input(0);
  const int64_t block = context.attributes().get_int("blocksize");
  require_image(x, block);
  const auto [n, c, h, w] = std::array{x.shape()[0], x.shape()[1], x.shape()[2], x.shape()[3]};
  if (h % block != 0 || w % block != 0) fail_bad_input("an image of {}x{} has no blocks of {}", h, w, block);
  const Tensor y = transposed(x.reshaped({n, c, h / block, block, w / block, block}), {0, 3, 5, 1, 2, 4});
  context.outputs[0] = y.reshaped({n, c * block * block, h / block, w / block});
}

constexpr KernelEntry kKernels[] = {
    {"DepthToSpace", depth_to_space},
    {"Flatten", flatten},
    {"Reshape", reshape},
    {"Shape", shape_of},
    {"Size", size_of},
    {"SpaceToDepth", space_to_depth},
    {"Squeeze", squeeze},
    {"Transpose", transpose},
    {"Unsqueeze", unsqueeze},
};

}  // namespace

std::span<const KernelEntry> layout_kernels() { return kKernels; }

}  // namespace hone::reference
