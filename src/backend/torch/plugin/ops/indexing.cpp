// Operators that select or place elements by position.
#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/index.h>
#include <ATen/ops/index_put.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/scatter.h>
#include <ATen/ops/scatter_reduce.h>
#include <ATen/ops/slice.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "backend/torch/plugin/compat.hpp"
#include "backend/torch/plugin/convert.hpp"
#include "backend/torch/plugin/lowering.hpp"

namespace hone::backend::aten {
namespace {

using IndexList = c10::List<Optional<at::Tensor>>;

at::Tensor non_negative(const at::Tensor& indices, int64_t size) {
  const at::Tensor wide = indices.to(at::kLong);
  return at::where(wide.lt(0), wide.add(size), wide);
}

/// x[:, ..., indices, ...] in numpy's indexing, which is also PyTorch's.
Operation gather(const Lowering& lowering) {
  return single([axis = lowering.attributes().get_int("axis")](const Arguments& in) {
    IndexList list;
    const int64_t position = axis < 0 ? axis + in[0].dim() : axis;
    for (int64_t i = 0; i < position; ++i) list.push_back(Optional<at::Tensor>());
    list.push_back(in[1].to(at::kLong));
    return at::index(in[0], list);
  });
}

Operation gather_elements(const Lowering& lowering) {
  return single([axis = lowering.attributes().get_int("axis")](const Arguments& in) {
    return at::gather(in[0], axis, non_negative(in[1], in[0].size(axis)));
  });
}

/// One index tensor for each leading axis: the positions of the batch axes, then the columns of `indices`.
IndexList index_columns(const at::Tensor& indices, const at::Tensor& data, int64_t batch_dims) {
  IndexList list;
  const at::Tensor wide = indices.to(at::kLong);
  for (int64_t axis = 0; axis < batch_dims; ++axis) {
    std::vector<int64_t> shape(static_cast<size_t>(indices.dim() - 1), 1);
    shape[static_cast<size_t>(axis)] = data.size(axis);
    list.push_back(at::arange(data.size(axis), wide.options()).reshape(shape));
  }
  for (const at::Tensor& column : wide.unbind(-1)) list.push_back(column);
  return list;
}

Operation gather_nd(const Lowering& lowering) {
  return single([batch_dims = lowering.attributes().get_int("batch_dims")](const Arguments& in) {
    return at::index(in[0], index_columns(in[1], in[0], batch_dims));
  });
}

Operation scatter_nd(const Lowering& lowering) {
  const std::string& reduction = lowering.attributes().get_string("reduction");
  if (reduction != "none" && reduction != "add") lowering.refuse("reduction '{}' is not covered", reduction);
  return single([accumulate = reduction == "add"](const Arguments& in) {
    return at::index_put(in[0], index_columns(in[1], in[0], 0), in[2], accumulate);
  });
}

Operation scatter_elements(const Lowering& lowering) {
  const int64_t axis = lowering.attributes().get_int("axis");
  const std::string& reduction = lowering.attributes().get_string("reduction");
  if (reduction == "none") {
    return single([axis](const Arguments& in) {
      return at::scatter(in[0], axis, non_negative(in[1], in[0].size(axis)), in[2]);
    });
  }
  const char* name = reduction == "add"   ? "sum"
                     : reduction == "mul" ? "prod"
                     : reduction == "max" ? "amax"
                                          : "amin";
  return single([axis, name](const Arguments& in) {
    return at::scatter_reduce(in[0], axis, non_negative(in[1], in[0].size(axis)), in[2], name);
  });
}

/// Slices backwards: start is clamped to the last element, and end to one before the first.
at::Tensor slice_backwards(const at::Tensor& x, int64_t axis, int64_t start, int64_t end, int64_t step) {
  const int64_t size = x.size(axis);
  if (start < 0) start += size;
  if (end < 0) end = std::max<int64_t>(end, -size - 1) + size;
  if (size == 0) return x;
  // ONNX keeps the start inside the axis; only the end may be before it.
  start = std::clamp<int64_t>(start, 0, size - 1);
  end = std::clamp<int64_t>(end, -1, size - 1);
  if (start <= end) return at::slice(x, axis, 0, 0);
  return at::index_select(x, axis, at::arange(start, end, step, x.options().dtype(at::kLong)));
}

Operation slice(const Lowering& lowering) {
  const Ints axes = lowering.has(3) ? lowering.ints(3) : Ints::none();
  const Ints steps = lowering.has(4) ? lowering.ints(4) : Ints::none();
  return single([starts = lowering.ints(1), ends = lowering.ints(2), axes, steps](const Arguments& in) {
    const std::vector<int64_t> from = starts.get(in), to = ends.get(in);
    std::vector<int64_t> axis = axes.get(in), step = steps.get(in);
    if (!in.has(3)) {
      axis.resize(from.size());
      std::iota(axis.begin(), axis.end(), 0);
    }
    if (!in.has(4)) step.assign(from.size(), 1);
    at::Tensor result = in[0];
    for (size_t i = 0; i < from.size(); ++i) {
      result = step[i] > 0 ? at::slice(result, axis[i], from[i], to[i], step[i])
                           : slice_backwards(result, axis[i], from[i], to[i], step[i]);
    }
    return result;
  });
}

/// The source position of each element of one padded axis; `before` and `after` may crop.
std::vector<int64_t> padded_positions(int64_t size, int64_t before, int64_t after, const std::string& mode) {
  std::vector<int64_t> positions;
  const int64_t period = mode == "wrap" ? size : std::max<int64_t>(1, 2 * (size - 1));
  for (int64_t i = -before; i < size + after; ++i) {
    if (mode == "edge") {
      positions.push_back(std::clamp<int64_t>(i, 0, size - 1));
      continue;
    }
    const int64_t wrapped = (i % period + period) % period;
    positions.push_back(mode == "wrap" || wrapped < size ? wrapped : period - wrapped);
  }
  return positions;
}

/// The begin and end pads for every axis of x.
std::pair<std::vector<int64_t>, std::vector<int64_t>> all_pads(const at::Tensor& x,
                                                               const std::vector<int64_t>& pads,
                                                               std::vector<int64_t> axes) {
  const auto rank = static_cast<size_t>(x.dim());
  if (axes.empty()) {
    axes.resize(pads.size() / 2);
    std::iota(axes.begin(), axes.end(), 0);
  }
  std::vector<int64_t> begin(rank, 0), end(rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(axes[i] < 0 ? axes[i] + x.dim() : axes[i]);
    begin.at(axis) = pads.at(i);
    end.at(axis) = pads.at(i + axes.size());
  }
  return {begin, end};
}

Operation pad(const Lowering& lowering) {
  const std::string mode = lowering.attributes().get_string("mode");
  const Ints axes = lowering.has(3) ? lowering.ints(3) : Ints::none();
  at::Scalar value = 0;
  if (lowering.has(2)) {
    const tensor::Tensor* constant = lowering.constant(2);
    if (constant == nullptr) lowering.refuse("its padding value is computed");
    value = constant->to_double().at(0);
  }
  return single([mode, axes, value, wanted = lowering.ints(1)](const Arguments& in) {
    const auto [begin, end] = all_pads(in[0], wanted.get(in), axes.get(in));
    if (mode == "constant") {
      std::vector<int64_t> list;
      for (size_t i = begin.size(); i-- > 0;) list.insert(list.end(), {begin[i], end[i]});
      return at::constant_pad_nd(in[0], list, value);
    }
    at::Tensor result = in[0];
    for (size_t i = 0; i < begin.size(); ++i) {
      if (begin[i] == 0 && end[i] == 0) continue;
      const auto axis = static_cast<int64_t>(i);
      const auto positions = padded_positions(in[0].size(axis), begin[i], end[i], mode);
      result = at::index_select(result, axis, literal(positions, in[0].device()));
    }
    return result;
  });
}

constexpr LowerEntry kLowerings[] = {
    {"Gather", gather}, {"GatherElements", gather_elements},   {"GatherND", gather_nd},
    {"Pad", pad},       {"ScatterElements", scatter_elements}, {"ScatterND", scatter_nd},
    {"Slice", slice},
};

}  // namespace

std::span<const LowerEntry> indexing_lowerings() { return kLowerings; }

}  // namespace hone::backend::aten
