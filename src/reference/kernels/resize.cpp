// Reference kernel of the convolution family: Resize, one axis after another. Interpolation is separable:
// on each axis an output position is a weighted sum of input positions.
//
// Source: ONNX operator specification of Resize (opset 19).
#include <algorithm>
#include <optional>

#include "graph/resize_taps.hpp"
#include "reference/kernels/convolution_family.hpp"
#include "reference/kernels/rounding.hpp"

namespace hone::reference {
namespace {

using graph::ResizeAxis;
using graph::ResizeTaps;

std::optional<std::vector<double>> values(const KernelContext& context, size_t i) {
  if (!context.has_input(i) || context.input(i).size() == 0) return std::nullopt;
  return context.input(i).to_double();
}

std::vector<ResizeAxis> read_axes(const KernelContext& context) {
  graph::ResizeInputs inputs{values(context, 1), values(context, 2), std::nullopt};
  if (values(context, 3)) inputs.sizes = context.input(3).to_int64();
  return read_resize(context.attributes(), context.input(0).shape(), inputs);
}

/// Resizes axis `k` of a row-major tensor of `shape`, which becomes the new shape.
std::vector<double> resize_axis(const std::vector<double>& x, Shape& shape, size_t k,
                                const std::vector<ResizeTaps>& taps, double extrapolation) {
  int64_t inner = 1;
  for (size_t i = k + 1; i < shape.size(); ++i) inner *= shape[i];
  int64_t outer = 1;
  for (size_t i = 0; i < k; ++i) outer *= shape[i];
  const int64_t input = shape[k];
  shape[k] = static_cast<int64_t>(taps.size());
  std::vector<double> y(static_cast<size_t>(tensor::element_count(shape)), 0.0);
  for (int64_t i = 0; i < outer; ++i) {
    for (size_t o = 0; o < taps.size(); ++o) {
      double* row = y.data() + (i * shape[k] + static_cast<int64_t>(o)) * inner;
      if (taps[o].positions.empty()) std::fill(row, row + inner, extrapolation);
      for (size_t t = 0; t < taps[o].positions.size(); ++t) {
        const double* from = x.data() + (i * input + taps[o].positions[t]) * inner;
        for (int64_t j = 0; j < inner; ++j) row[j] += taps[o].weights[t] * from[j];
      }
    }
  }
  return y;
}

/// Nearest neighbours are copied, so that every type keeps its exact values.
void resize_nearest(const Tensor& x, Tensor& y, const std::vector<std::vector<ResizeTaps>>& taps,
                    double extrapolation) {
  const Shape in = tensor::row_major_strides(x.shape());
  const Shape out = tensor::row_major_strides(y.shape());
  tensor::visit_dtype(x.dtype(), [&]<class T>() {
    const auto from = x.values<T>();
    const auto to = y.mutable_values<T>();
    for (size_t i = 0; i < to.size(); ++i) {
      int64_t offset = 0;
      bool inside = true;
      for (size_t k = 0; k < taps.size() && inside; ++k) {
        const ResizeTaps& at = taps[k][static_cast<size_t>(static_cast<int64_t>(i) / out[k] % y.shape()[k])];
        inside = !at.positions.empty();
        if (inside) offset += at.positions[0] * in[k];
      }
      to[i] = inside ? from[static_cast<size_t>(offset)] : tensor::convert<T>(extrapolation);
    }
  });
}

void resize_interpolated(const Tensor& x, Tensor& y, const std::vector<ResizeAxis>& axes,
                         const std::vector<std::vector<ResizeTaps>>& taps, double extrapolation) {
  Shape shape = x.shape();
  std::vector<double> data = x.to_double();
  for (size_t k = 0; k < axes.size(); ++k) {
    if (!axes[k].is_identity()) data = resize_axis(data, shape, k, taps[k], extrapolation);
  }
  store_rounded(y, data);
}

}  // namespace

void resize(KernelContext& context) {
  const Tensor& x = context.input(0);
  const graph::ResizeOptions options(context.attributes());
  const std::vector<ResizeAxis> axes = read_axes(context);
  Shape shape;
  for (const ResizeAxis& axis : axes) shape.push_back(axis.output);
  Tensor& y = context.make_output(0, x.dtype(), std::move(shape));
  if (y.size() == 0) return;
  if (x.size() == 0) fail_bad_input("input 0 is empty");
  std::vector<std::vector<ResizeTaps>> taps;
  for (const ResizeAxis& axis : axes) taps.push_back(graph::resize_taps(options, axis));
  if (options.mode == "nearest") return resize_nearest(x, y, taps, options.extrapolation);
  resize_interpolated(x, y, axes, taps, options.extrapolation);
}

}  // namespace hone::reference
