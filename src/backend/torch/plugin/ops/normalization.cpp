// Normalizations as ATen calls.
#include <ATen/ops/avg_pool3d.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/group_norm.h>
#include <ATen/ops/instance_norm.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/native_layer_norm.h>

#include "backend/torch/plugin/compat.hpp"
#include "backend/torch/plugin/lowering.hpp"

namespace hone::backend::aten {
namespace {

Operation batch_normalization(const Lowering& lowering) {
  if (lowering.attributes().get_int("training_mode") != 0) lowering.refuse("it is in training mode");
  return single([epsilon = lowering.attributes().get_float("epsilon")](const Arguments& in) {
    return at::batch_norm(in[0], in[1], in[2], in[3], in[4], /*training=*/false, /*momentum=*/0.1, epsilon,
                          /*cudnn_enabled=*/true);
  });
}

Operation instance_normalization(const Lowering& lowering) {
  return single([epsilon = lowering.attributes().get_float("epsilon")](const Arguments& in) {
    return at::instance_norm(in[0], in[1], in[2], {}, {}, /*use_input_stats=*/true, /*momentum=*/0.1, epsilon,
                             /*cudnn_enabled=*/true);
  });
}

Operation group_normalization(const Lowering& lowering) {
  return single([groups = lowering.attributes().get_int("num_groups"),
                 epsilon = lowering.attributes().get_float("epsilon")](const Arguments& in) {
    return at::group_norm(in[0], groups, in[1], in[2], epsilon, /*cudnn_enabled=*/true);
  });
}

/// In ONNX, scale and bias are broadcast to the normalized axes; PyTorch requires exactly their shape.
Operation layer_normalization(const Lowering& lowering) {
  const int64_t axis = lowering.attributes().get_int("axis");
  const float epsilon = lowering.attributes().get_float("epsilon");
  const bool statistics = lowering.node.has_output(1) || lowering.node.has_output(2);
  return [axis, epsilon, statistics](Arguments& in) {
    const at::Tensor& x = in[0];
    const auto shape = x.sizes().slice(static_cast<size_t>(axis < 0 ? axis + x.dim() : axis));
    const at::Tensor scale = in[1].expand(shape);
    const at::Tensor bias = in.has(2) ? in[2].expand(shape) : at::Tensor();
    if (!statistics) {
      in.set(0, at::layer_norm(x, shape, scale, bias, epsilon, /*cudnn_enable=*/true));
      return;
    }
    auto [y, mean, inverse] = at::native_layer_norm(x, shape, scale, bias, epsilon);
    in.set(1, mean);
    in.set(2, inverse);
    in.set(0, y);
  };
}

/// y = x / (bias + alpha / size * sum of squares over `size` channels)^beta. The window has floor((size - 1)
/// / 2) channels before the current one and ceil((size - 1) / 2) after it (ONNX LRN).
Operation local_response_normalization(const Lowering& lowering) {
  const int64_t size = lowering.attributes().get_int("size");
  const float alpha = lowering.attributes().get_float("alpha");
  const float beta = lowering.attributes().get_float("beta");
  const float bias = lowering.attributes().get_float("bias");
  return single([=](const Arguments& in) {
    const at::Tensor& x = in[0];
    const int64_t before = (size - 1) / 2;
    const at::Tensor planes = x.mul(x).reshape({x.size(0), 1, x.size(1), -1, 1});
    const at::Tensor padded = at::constant_pad_nd(planes, {0, 0, 0, 0, before, size - 1 - before});
    const at::Tensor mean = at::avg_pool3d(padded, {size, 1, 1}, {1, 1, 1}).reshape(x.sizes());
    return x.div(mean.mul(alpha).add(bias).pow(beta));
  });
}

constexpr LowerEntry kLowerings[] = {
    {"BatchNormalization", batch_normalization},       {"GroupNormalization", group_normalization},
    {"InstanceNormalization", instance_normalization}, {"LRN", local_response_normalization},
    {"LayerNormalization", layer_normalization},
};

}  // namespace

std::span<const LowerEntry> normalization_lowerings() { return kLowerings; }

}  // namespace hone::backend::aten
