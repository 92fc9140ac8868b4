// Reference kernels of the convolution family: MaxPool, AveragePool, LpPool and MaxUnpool.
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/kernels/convolution_family.hpp"
#include "reference/kernels/window_walk.hpp"
#include "tensor/convert.hpp"

namespace hone::reference {
namespace {

using graph::WindowAxis;

/// A pooling of one input: its axes, and the layout of the planes of input and output.
struct Pool {
  std::vector<WindowAxis> axes;
  Shape output_shape;
  int64_t planes = 0;
  int64_t input_plane = 1;
  int64_t output_plane = 1;
};

Pool read_pool(const KernelContext& context) {
  const Tensor& x = context.input(0);
  const auto& kernel = context.attributes().get_ints("kernel_shape");
  if (x.rank() < 3 || kernel.size() != x.shape().size() - 2) {
    fail_bad_input("attribute 'kernel_shape' has {} entries for an input of rank {}", kernel.size(),
                   x.rank());
  }
  const auto window = graph::read_window(context.attributes(), kernel);
  Pool pool{.axes = resolve_window(window, std::span(x.shape()).subspan(2)),
            .output_shape = {x.shape()[0], x.shape()[1]},
            .planes = x.shape()[0] * x.shape()[1]};
  for (const WindowAxis& axis : pool.axes) {
    pool.output_shape.push_back(axis.output);
    pool.input_plane *= axis.input;
    pool.output_plane *= axis.output;
  }
  return pool;
}

/// Flat index of a position within its plane: row-major, or column-major for storage order 1.
int64_t plane_index(const std::vector<WindowAxis>& axes, const std::vector<int64_t>& position, bool columns) {
  int64_t index = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = columns ? axes.size() - 1 - i : i;
    index = index * axes[axis].input + position[axis];
  }
  return index;
}

template <class T>
T lowest() {
  if constexpr (std::is_same_v<T, tensor::Half> || std::is_same_v<T, tensor::BFloat16>) {
    return T(-std::numeric_limits<float>::infinity());
  } else if constexpr (std::is_floating_point_v<T>) {
    return -std::numeric_limits<T>::infinity();
  } else {
    return std::numeric_limits<T>::lowest();
  }
}

/// The first maximum of every window, where NaN is the largest value, and its index in the whole tensor.
template <class T>
void max_planes(const Pool& pool, bool columns, std::span<const T> x, std::span<T> y,
                std::span<int64_t> indices) {
#pragma omp parallel for schedule(static)
  for (int64_t plane = 0; plane < pool.planes; ++plane) {
    const T* in = x.data() + plane * pool.input_plane;
    visit_outputs(pool.axes, [&](int64_t flat, const std::vector<int64_t>& output) {
      T best = lowest<T>();
      int64_t index = -1;
      visit_window(pool.axes, output, [&](int64_t offset, const std::vector<int64_t>& position) {
        const T value = in[offset];
        const bool nan = value != value;
        if (index >= 0 && !(value > best) && !nan) return;
        best = value;
        index = plane_index(pool.axes, position, columns);
      });
      y[static_cast<size_t>(plane * pool.output_plane + flat)] = best;
      if (indices.empty()) return;
      indices[static_cast<size_t>(plane * pool.output_plane + flat)] =
          index < 0 ? -1 : plane * pool.input_plane + index;
    });
  }
}

template <class T, class Reduce>
void fill_windows(const std::vector<double>& x, const Pool& pool, const Reduce& reduce, std::span<T> out) {
#pragma omp parallel for schedule(static)
  for (int64_t plane = 0; plane < pool.planes; ++plane) {
    const double* in = x.data() + plane * pool.input_plane;
    visit_outputs(pool.axes, [&](int64_t flat, const std::vector<int64_t>& output) {
      out[static_cast<size_t>(plane * pool.output_plane + flat)] = tensor::convert<T>(reduce(in, output));
    });
  }
}

/// Applies `reduce(input plane, output position) -> double` at every output position.
template <class Reduce>
void reduce_windows(KernelContext& context, const Pool& pool, const Reduce& reduce) {
  const std::vector<double> x = context.input(0).to_double();
  Tensor& y = context.make_output(0, context.input(0).dtype(), pool.output_shape);
  tensor::visit_floating(y.dtype(),
                         [&]<class T>() { fill_windows<T>(x, pool, reduce, y.mutable_values<T>()); });
}

/// Number of elements of the window that lie in the input or its padding; elements of a ceil_mode window
/// beyond the padding do not count.
int64_t padded_count(const std::vector<WindowAxis>& axes, const std::vector<int64_t>& output) {
  int64_t count = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    count *= taps_inside(axes[i], output[i], axes[i].pad_begin, axes[i].pad_end).size();
  }
  return count;
}

/// Converts the flat index of MaxPool into a tensor of shape `pooled` to the offset in a tensor of shape
/// `shape`.
int64_t unpooled_offset(int64_t index, const Shape& pooled, const Shape& shape) {
  const int64_t count = tensor::element_count(pooled);
  if (index < 0 || index >= count) fail_bad_input("input 1 holds {}, outside [0, {})", index, count);
  int64_t offset = 0;
  int64_t stride = 1;
  for (size_t i = pooled.size(); i-- > 0;) {
    const int64_t position = index % pooled[i];
    index /= pooled[i];
    if (position >= shape[i]) fail_bad_input("input 1 points outside the output along axis {}", i);
    offset += position * stride;
    stride *= shape[i];
  }
  return offset;
}

}  // namespace

void max_pool(KernelContext& context) {
  const Pool pool = read_pool(context);
  const Tensor& x = context.input(0);
  const bool columns = context.attributes().get_int("storage_order") == 1;
  Tensor& y = context.make_output(0, x.dtype(), pool.output_shape);
  std::span<int64_t> indices;
  if (context.node.has_output(1)) {
    indices = context.make_output(1, DType::kInt64, pool.output_shape).mutable_values<int64_t>();
  }
  tensor::visit_dtype(x.dtype(), [&]<class T>() {
    max_planes<T>(pool, columns, x.values<T>(), y.mutable_values<T>(), indices);
  });
}

void average_pool(KernelContext& context) {
  const Pool pool = read_pool(context);
  const bool include_padding = context.attributes().get_int("count_include_pad") != 0;
  reduce_windows(context, pool, [&](const double* in, const std::vector<int64_t>& output) {
    double sum = 0;
    const int64_t inside =
        visit_window(pool.axes, output, [&](int64_t offset, const auto&) { sum += in[offset]; });
    const int64_t count = include_padding ? padded_count(pool.axes, output) : inside;
    return count == 0 ? 0.0 : sum / static_cast<double>(count);
  });
}

void lp_pool(KernelContext& context) {
  const Pool pool = read_pool(context);
  const auto p = static_cast<double>(context.attributes().get_int("p"));
  reduce_windows(context, pool, [&](const double* in, const std::vector<int64_t>& output) {
    double sum = 0;
    visit_window(pool.axes, output,
                 [&](int64_t offset, const auto&) { sum += std::pow(std::abs(in[offset]), p); });
    return std::pow(sum, 1 / p);
  });
}

void max_unpool(KernelContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& indices = context.input(1);
  if (indices.shape() != x.shape()) {
    fail_bad_input("input 1 has shape {}, expected {}", tensor::shape_text(indices.shape()),
                   tensor::shape_text(x.shape()));
  }
  const auto& kernel = context.attributes().get_ints("kernel_shape");
  if (x.rank() < 3 || kernel.size() != x.shape().size() - 2) {
    fail_bad_input("attribute 'kernel_shape' has {} entries for an input of rank {}", kernel.size(),
                   x.rank());
  }
  const auto window = graph::read_window(context.attributes(), kernel);
  Shape pooled = x.shape();
  for (size_t i = 0; i < window.rank(); ++i) {
    pooled[i + 2] = transposed_output(window, context.attributes(), i, pooled[i + 2]).value();
  }
  const Shape shape = context.has_input(2) ? context.input(2).to_int64() : pooled;
  if (shape.size() != pooled.size()) {
    fail_bad_input("input 2 has {} elements, expected {}", shape.size(), pooled.size());
  }
  Tensor& y = context.make_output(0, x.dtype(), shape);
  std::fill_n(y.mutable_bytes(), y.byte_size(), std::byte{0});
  const auto at = indices.values<int64_t>();
  tensor::visit_floating(x.dtype(), [&]<class T>() {
    const auto in = x.values<T>();
    const auto out = y.mutable_values<T>();
    for (size_t i = 0; i < in.size(); ++i) {
      out[static_cast<size_t>(unpooled_offset(at[i], pooled, shape))] = in[i];
    }
  });
}

}  // namespace hone::reference
