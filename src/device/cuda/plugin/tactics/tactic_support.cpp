// Helpers for tactics: types, launches, post-ops. See tactics.hpp.
#include <algorithm>
#include <limits>

#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "device/cuda/plugin/kernels/layers/reorder.hpp"
#include "device/cuda/plugin/queue.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"

namespace hone::device::cuda {

using engine::Layout;
using engine::Shape;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;

void LaunchKernel::run(const engine::Run& run) const {
  check(launch_(run.inputs, run.outputs, run.scratch, launch_options(run)), what_);
}

bool is_float_type(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

FloatType float_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return FloatType::kHalf;
    case DType::kBFloat16: return FloatType::kBfloat16;
    case DType::kFloat32: return FloatType::kFloat;
    default: break;
  }
  fail_internal("{} has no kernels on the GPU", tensor::dtype_name(dtype));
}

ImageOrder image_order(Layout layout) {
  return layout == Layout::kChannelsLast ? ImageOrder::kChannelsLast : ImageOrder::kPlain;
}

bool fits_in_int(const std::vector<graph::WindowAxis>& axes) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  return std::all_of(axes.begin(), axes.end(), [](const graph::WindowAxis& axis) {
    // Check the factors first, so that their products cannot overflow.
    for (const int64_t value :
         {axis.input, axis.output, axis.kernel, axis.stride, axis.dilation, axis.pad_begin, axis.pad_end}) {
      if (value > kMost) return false;
    }
    return axis.output * axis.stride <= kMost && axis.extent() <= kMost;
  });
}

LaunchOptions launch_options(const engine::Run& run) {
  const auto& queue = static_cast<const CudaQueue&>(*run.queue);
  const bool pdl = queue.device().programmatic_launches;
  return {.stream = queue.stream(),
          .device = &queue.device(),
          .pdl = pdl,
          .next_waits = pdl && run.neighbours.next_waits,
          .behind_cluster = run.neighbours.previous_leaves_room,
          .counters = run.counters,
          .stamps = queue.stamps()};
}

namespace {

/// Makes a kernel that moves elements from the other image order without computing with them.
std::shared_ptr<const engine::Kernel> make_move_kernel(size_t bytes, ImageOrder to_order,
                                                       const ImageSize& size) {
  const bool last = to_order == ImageOrder::kChannelsLast;
  const int64_t rows = last ? size.channels : size.pixels;
  const int64_t columns = last ? size.pixels : size.channels;
  return std::make_shared<LaunchKernel>(
      "a reorder", [=](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        return transpose_matrices(inputs[0], outputs[0], bytes, size.batch, rows, columns, options);
      });
}

}  // namespace

std::shared_ptr<const engine::Kernel> make_reorder_kernel(const TensorDesc& from, const TensorDesc& to) {
  if (same_arrangement(from, to)) {
    const auto bytes = static_cast<size_t>(to.bytes());
    return std::make_shared<LaunchKernel>("a copy", [bytes](auto inputs, auto outputs, void*,
                                                            const LaunchOptions& options) {
      return bytes == 0
                 ? cudaSuccess
                 : cudaMemcpyAsync(outputs[0], inputs[0], bytes, cudaMemcpyDeviceToDevice, options.stream);
    });
  }
  ImageSize size;
  const ImageOrder from_order = image_order(from.layout);
  const ImageOrder to_order = image_order(to.layout);
  if (from_order == to_order) {
    size.pixels = tensor::element_count(to.shape);
  } else {
    size = {to.shape[0], to.shape[1], 1};
    for (size_t i = 2; i < to.shape.size(); ++i) size.pixels *= to.shape[i];
  }
  if (!is_float_type(from.dtype) || !is_float_type(to.dtype)) {
    if (from.dtype != to.dtype || from_order == to_order)
      fail_internal("no copy from {} to {} on the GPU", from.text(), to.text());
    return make_move_kernel(tensor::dtype_size(to.dtype), to_order, size);
  }
  const FloatType from_type = float_type(from.dtype);
  const FloatType to_type = float_type(to.dtype);
  return std::make_shared<LaunchKernel>(
      "a reorder", [=](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        return from_order == to_order
                   ? convert(inputs[0], from_type, outputs[0], to_type, size.pixels, options)
                   : reorder(inputs[0], from_type, from_order, outputs[0], to_type, to_order, size, options);
      });
}

namespace {

std::optional<OperandShape> operand_shape(const Shape& operand, const Shape& output, ChannelAxis axis) {
  if (operand == output) return OperandShape::kFull;
  const size_t rank = output.size();
  if (operand.size() > rank || rank < 2) return std::nullopt;
  Shape padded(rank - operand.size(), 1);
  padded.insert(padded.end(), operand.begin(), operand.end());
  const size_t channels = axis == ChannelAxis::kSecond ? 1 : rank - 1;
  for (size_t i = 1; i < rank; ++i) {
    if (padded[i] != (i == channels ? output[i] : 1)) return std::nullopt;
  }
  if (padded[0] == output[0] && output[0] != 1) return OperandShape::kPerImageChannel;
  return padded[0] == 1 ? std::optional(OperandShape::kPerChannel) : std::nullopt;
}

}  // namespace

std::optional<std::vector<PostOpRequest>> read_post_ops(const StepRequest& request, size_t first_extra,
                                                        ChannelAxis axis) {
  std::vector<PostOpRequest> result;
  if (!request.node.attributes.has("post_ops")) return result;
  const auto& names = request.node.attributes.get<std::vector<std::string>>("post_ops");
  const auto& alphas = request.node.attributes.get<std::vector<float>>("post_alphas");
  const auto& betas = request.node.attributes.get<std::vector<float>>("post_betas");
  size_t extra = first_extra;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto op = graph::find_post_op(names[i]);
    if (!op) return std::nullopt;
    PostOpRequest post{*op, alphas[i], betas[i]};
    if (is_binary(*op)) {
      post.operand = extra++;
      const auto shape = operand_shape(request.inputs[post.operand].shape, request.outputs[0].shape, axis);
      if (!shape) return std::nullopt;
      post.shape = *shape;
    }
    result.push_back(post);
  }
  return result;
}

}  // namespace hone::device::cuda
