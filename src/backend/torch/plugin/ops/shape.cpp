// Operators that move elements without computing: reshapes, transposes, concatenations and splits.
#include <ATen/ops/cat.h>
#include <ATen/ops/split_with_sizes.h>
#include <ATen/ops/squeeze.h>

#include <algorithm>
#include <numeric>

#include "backend/torch/plugin/lowering.hpp"

namespace hone::backend::aten {
namespace {

/// A 0 copies the input's dimension unless allowzero is set (ONNX Reshape); PyTorch resolves -1.
Operation reshape(const Lowering& lowering) {
  const bool allow_zero = lowering.attributes().get_int("allowzero") != 0;
  return single([allow_zero, wanted = lowering.ints(1)](const Arguments& in) {
    std::vector<int64_t> shape = wanted.get(in);
    for (size_t i = 0; i < shape.size() && !allow_zero; ++i) {
      if (shape[i] == 0) shape[i] = in[0].size(static_cast<int64_t>(i));
    }
    return in[0].reshape(shape);
  });
}

Operation flatten(const Lowering& lowering) {
  return single([axis = lowering.attributes().get_int("axis")](const Arguments& in) {
    const auto sizes = in[0].sizes();
    const int64_t end = axis < 0 ? axis + in[0].dim() : axis;
    const int64_t rows = std::accumulate(sizes.begin(), sizes.begin() + end, int64_t{1}, std::multiplies<>());
    const int64_t columns =
        std::accumulate(sizes.begin() + end, sizes.end(), int64_t{1}, std::multiplies<>());
    return in[0].reshape({rows, columns});
  });
}

Operation transpose(const Lowering& lowering) {
  return single([order = lowering.ints_or("perm", {})](const Arguments& in) {
    if (!order.empty()) return in[0].permute(order);
    std::vector<int64_t> reversed(static_cast<size_t>(in[0].dim()));
    std::iota(reversed.rbegin(), reversed.rend(), 0);
    return in[0].permute(reversed);
  });
}

Operation concat(const Lowering& lowering) {
  return single([axis = lowering.attributes().get_int("axis")](const Arguments& in) {
    return at::cat(in.all(), axis);
  });
}

/// Splits into sizes from input 1, or into `count` equal parts, of which the last may be smaller.
Operation split(const Lowering& lowering) {
  const int64_t axis = lowering.attributes().get_int("axis");
  const auto count = static_cast<int64_t>(lowering.node.outputs.size());
  const bool given = lowering.has(1);
  return [axis, count, given, sizes = given ? lowering.ints(1) : Ints::none()](Arguments& in) {
    std::vector<int64_t> parts = sizes.get(in);
    if (!given) {
      const int64_t total = in[0].size(axis);
      const int64_t part = (total + count - 1) / count;
      parts.assign(static_cast<size_t>(count), part);
      parts.back() = total - part * (count - 1);
    }
    std::vector<at::Tensor> pieces = at::split_with_sizes(in[0], parts, axis);
    for (size_t i = 0; i < pieces.size(); ++i) in.set(i, std::move(pieces[i]));
  };
}

std::vector<int64_t> normalized(std::vector<int64_t> axes, int64_t rank) {
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  std::sort(axes.begin(), axes.end());
  return axes;
}

Operation squeeze(const Lowering& lowering) {
  if (!lowering.has(1)) {
    return single([](const Arguments& in) { return at::squeeze(in[0]); });
  }
  return single([wanted = lowering.ints(1)](const Arguments& in) {
    const std::vector<int64_t> axes = normalized(wanted.get(in), in[0].dim());
    at::Tensor result = in[0];
    for (size_t i = axes.size(); i-- > 0;) result = at::squeeze(result, axes[i]);
    return result;
  });
}

Operation unsqueeze(const Lowering& lowering) {
  return single([wanted = lowering.ints(1)](const Arguments& in) {
    const std::vector<int64_t> given = wanted.get(in);
    const std::vector<int64_t> axes = normalized(given, in[0].dim() + static_cast<int64_t>(given.size()));
    at::Tensor result = in[0];
    for (const int64_t axis : axes) result = result.unsqueeze(axis);
    return result;
  });
}

/// Broadcasts in both directions: the result's shape combines the input's shape and the requested one.
Operation expand(const Lowering& lowering) {
  return single([wanted = lowering.ints(1)](const Arguments& in) {
    const auto sizes = in[0].sizes();
    return in[0].expand(tensor::broadcast_shapes({sizes.data(), sizes.size()}, wanted.get(in)));
  });
}

Operation tile(const Lowering& lowering) {
  return single([repeats = lowering.ints(1)](const Arguments& in) { return in[0].repeat(repeats.get(in)); });
}

Operation depth_to_space(const Lowering& lowering) {
  const int64_t block = lowering.attributes().get_int("blocksize");
  const bool depth_first = lowering.attributes().get_string("mode") == "DCR";
  return single([block, depth_first](const Arguments& in) {
    const at::Tensor& x = in[0];
    const int64_t n = x.size(0), c = x.size(1) / (block * block), h = x.size(2), w = x.size(3);
    const at::Tensor moved = depth_first ? x.reshape({n, block, block, c, h, w}).permute({0, 3, 4, 1, 5, 2})
                                         : x.reshape({n, c, block, block, h, w}).permute({0, 1, 4, 2, 5, 3});
    return moved.reshape({n, c, h * block, w * block});
  });
}

Operation space_to_depth(const Lowering& lowering) {
  return single([block = lowering.attributes().get_int("blocksize")](const Arguments& in) {
    const at::Tensor& x = in[0];
    const int64_t n = x.size(0), c = x.size(1), h = x.size(2) / block, w = x.size(3) / block;
    return x.reshape({n, c, h, block, w, block})
        .permute({0, 3, 5, 1, 2, 4})
        .reshape({n, c * block * block, h, w});
  });
}

constexpr LowerEntry kLowerings[] = {
    {"Concat", concat},   {"DepthToSpace", depth_to_space}, {"Expand", expand},       {"Flatten", flatten},
    {"Reshape", reshape}, {"SpaceToDepth", space_to_depth}, {"Split", split},         {"Squeeze", squeeze},
    {"Tile", tile},       {"Transpose", transpose},         {"Unsqueeze", unsqueeze},
};

}  // namespace

std::span<const LowerEntry> shape_lowerings() { return kLowerings; }

}  // namespace hone::backend::aten
