// Pools as at::max_pool1d..3d and at::avg_pool1d..3d; uneven pads use an explicit padding call.
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/avg_pool1d.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/avg_pool3d.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/max_pool1d.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/max_pool2d_with_indices.h>
#include <ATen/ops/max_pool3d.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/ones_like.h>

#include <limits>
#include <numeric>

#include "backend/torch/plugin/compat.hpp"
#include "backend/torch/plugin/ops/window.hpp"

namespace hone::backend::aten {
namespace {

Window pool_window(const Lowering& lowering) {
  std::vector<int64_t> kernel = lowering.attributes().get_ints("kernel_shape");
  if (kernel.empty() || kernel.size() > 3) {
    lowering.refuse("PyTorch pools 1 to 3 axes, not {}", kernel.size());
  }
  return window_of(lowering, std::move(kernel));
}

/// PyTorch refuses pads of more than half the kernel.
bool native_pads(const Window& window) {
  if (!window.even()) return false;
  for (size_t i = 0; i < window.rank(); ++i) {
    if (window.begin[i] > window.kernel[i] / 2) return false;
  }
  return true;
}

/// The end pads with which floor mode gives the inferred output (ceil mode may exceed the input).
std::vector<int64_t> reaching_end(const Lowering& lowering, const Window& window) {
  const std::vector<int64_t> in = spatial_dims(lowering, lowering.node.input(0));
  const std::vector<int64_t> out = spatial_dims(lowering, lowering.node.output(0));
  std::vector<int64_t> end = window.end;
  for (size_t i = 0; i < window.rank(); ++i) {
    const int64_t needed = (out[i] - 1) * window.strides[i] + window.reach(i);
    end[i] = std::max(end[i], needed - in[i] - window.begin[i]);
  }
  return end;
}

Operation max_pool(const Lowering& lowering) {
  const Window window = pool_window(lowering);
  const bool native = native_pads(window);
  const bool ceil = native && lowering.attributes().get_int("ceil_mode") != 0;
  if (!native && !c10::isFloatingType(lowering.output_type(0))) {
    lowering.refuse("uneven pads need a floating-point type");
  }
  const std::vector<int64_t> inner = native ? window.begin : std::vector<int64_t>(window.rank(), 0);
  const std::vector<int64_t> outer =
      native ? std::vector<int64_t>{} : pad_list(window.begin, reaching_end(lowering, window));
  const auto call = [&](auto pool) {
    return single([=](const Arguments& in) {
      const at::Tensor x =
          native ? in[0] : at::constant_pad_nd(in[0], outer, -std::numeric_limits<double>::infinity());
      return pool(x, window.kernel, window.strides, inner, window.dilations, ceil);
    });
  };
  if (lowering.node.has_output(1)) {
    if (!native || window.rank() != 2 || lowering.attributes().get_int("storage_order") != 0) {
      lowering.refuse("indices of pools are only covered for 2 axes, even pads and row-major order");
    }
    return [=](Arguments& in) {
      auto [values, indices] =
          at::max_pool2d_with_indices(in[0], window.kernel, window.strides, inner, window.dilations, ceil);
      // PyTorch's indices count within a plane, ONNX's within the tensor.
      const int64_t planes = in[0].size(0) * in[0].size(1);
      const at::Tensor first = at::arange(planes, indices.options()).mul(in[0].size(2) * in[0].size(3));
      in.set(1, indices.add(first.view({in[0].size(0), in[0].size(1), 1, 1})));
      in.set(0, values);
    };
  }
  if (window.rank() == 1) return call([](auto&&... a) { return at::max_pool1d(a...); });
  if (window.rank() == 2) return call([](auto&&... a) { return at::max_pool2d(a...); });
  return call([](auto&&... a) { return at::max_pool3d(a...); });
}

/// Sums over windows without padding.
at::Tensor window_sums(const at::Tensor& x, const Window& window) {
  if (window.rank() == 3) {
    return at::avg_pool3d(x, window.kernel, window.strides, 0, false, true, 1);
  }
  if (window.rank() == 2) return at::avg_pool2d(x, window.kernel, window.strides, 0, false, true, 1);
  return at::avg_pool2d(x.unsqueeze(2), {1, window.kernel[0]}, {1, window.strides[0]}, 0, false, true, 1)
      .squeeze(2);
}

/// The sum over the padded window, divided by the number of elements that count.
Operation padded_average_pool(const Lowering& lowering, const Window& window, bool include_pad) {
  const std::vector<int64_t> end = reaching_end(lowering, window);
  std::vector<int64_t> beyond = end;
  for (size_t i = 0; i < end.size(); ++i) beyond[i] -= window.end[i];
  const std::vector<int64_t> zeros(window.rank(), 0);
  const std::vector<int64_t> pads = pad_list(window.begin, window.end);
  const std::vector<int64_t> last = pad_list(zeros, beyond);
  return single([=](const Arguments& in) {
    const at::Tensor padded = at::constant_pad_nd(in[0], pads);
    const at::Tensor counted =
        include_pad ? at::ones_like(padded) : at::constant_pad_nd(at::ones_like(in[0]), pads);
    return window_sums(at::constant_pad_nd(padded, last), window)
        .div(window_sums(at::constant_pad_nd(counted, last), window));
  });
}

Operation average_pool(const Lowering& lowering) {
  const Window window = pool_window(lowering);
  for (const int64_t dilation : window.dilations) {
    if (dilation != 1) lowering.refuse("PyTorch has no dilated average pool");
  }
  const bool ceil = lowering.attributes().get_int("ceil_mode") != 0;
  const bool include_pad = lowering.attributes().get_int("count_include_pad") != 0;
  if (!native_pads(window)) return padded_average_pool(lowering, window, include_pad);
  const auto call = [&](auto pool) {
    return single([=](const Arguments& in) {
      return pool(in[0], window.kernel, window.strides, window.begin, ceil, include_pad);
    });
  };
  if (window.rank() == 1) return call([](auto&&... a) { return at::avg_pool1d(a...); });
  if (window.rank() == 2) return call([](auto&&... a) { return at::avg_pool2d(a...); });
  return call([](auto&&... a) { return at::avg_pool3d(a...); });
}

std::vector<int64_t> spatial_axes(const at::Tensor& x) {
  std::vector<int64_t> axes(static_cast<size_t>(x.dim() - 2));
  std::iota(axes.begin(), axes.end(), 2);
  return axes;
}

Operation global_average_pool(const Lowering&) {
  return single([](const Arguments& in) {
    // adaptive_avg_pool2d refuses empty planes, whose mean is NaN.
    if (in[0].dim() == 4 && in[0].numel() != 0) return at::adaptive_avg_pool2d(in[0], {1, 1});
    return at::mean(in[0], spatial_axes(in[0]), true);
  });
}

Operation global_max_pool(const Lowering&) {
  return single([](const Arguments& in) { return at::amax(in[0], spatial_axes(in[0]), true); });
}

constexpr LowerEntry kLowerings[] = {
    {"AveragePool", average_pool},
    {"GlobalAveragePool", global_average_pool},
    {"GlobalMaxPool", global_max_pool},
    {"MaxPool", max_pool},
};

}  // namespace

std::span<const LowerEntry> pooling_lowerings() { return kLowerings; }

}  // namespace hone::backend::aten
