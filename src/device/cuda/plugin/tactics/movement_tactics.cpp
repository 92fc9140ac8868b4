// Operators that move elements without reading their values.
#include "device/cuda/plugin/kernels/layers/movement.hpp"

#include <algorithm>

#include "device/cuda/plugin/tactics/moved_values.hpp"
#include "device/cuda/plugin/tactics/node_views.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"
#include "engine/transposition.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;

Offer offer_concat(const StepRequest& request, engine::WeightStore&) {
  const Shape& shape = request.outputs[0].shape;
  const DType dtype = moved_type(request);
  const Layout layout = moved_layout(request, dtype);
  Shape order = shape;
  int64_t axis = request.node.attributes.get_int("axis");
  if (axis < 0) axis += static_cast<int64_t>(shape.size());
  // The index of the axis in memory order.
  const bool last = layout == Layout::kChannelsLast;
  if (last) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  const auto at = static_cast<size_t>(!last || axis == 0 ? axis
                                      : axis == 1        ? static_cast<int64_t>(shape.size()) - 1
                                                         : axis - 1);
  const auto element = static_cast<int64_t>(tensor::dtype_size(dtype));
  int64_t rows = 1;
  for (size_t i = 0; i < at; ++i) rows *= order[i];
  int64_t inner = element;
  for (size_t i = at + 1; i < order.size(); ++i) inner *= order[i];
  const int64_t row_bytes = inner * order[at];
  Offer offer;
  std::vector<int64_t> blocks;
  for (const TensorDesc& input : request.inputs) {
    offer.inputs.push_back({dtype, input.shape, layout});
    blocks.push_back(inner * input.shape[static_cast<size_t>(axis)]);
  }
  offer.outputs = {{dtype, shape, layout}};
  offer.concatenates = rows == 1;
  // Kernels load 16 bytes at a time; other buffers of the arena are at multiples of 64.
  offer.part_alignment = 64;
  offer.kernel = std::make_shared<LaunchKernel>(
      "a concatenation", [=](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        std::vector<ConcatPart> parts;
        int64_t at = 0;
        for (size_t i = 0; i < blocks.size(); ++i) {
          const bool is_there = inputs[i] == static_cast<const std::byte*>(outputs[0]) + at;
          if (!is_there && blocks[i] != 0) parts.push_back({inputs[i], blocks[i], at});
          at += blocks[i];
        }
        return concatenate(parts, outputs[0], row_bytes, rows, options);
      });
  return offer;
}

std::vector<int64_t> order_of(const StepRequest& request) {
  return engine::transposition_of(request.node.attributes.get_or<std::vector<int64_t>>("perm", {}),
                                  request.inputs[0].shape.size());
}

Offer offer_same_bytes(const StepRequest& request, engine::WeightStore&) {
  const Shape& shape = request.inputs[0].shape;
  const DType dtype = moved_type(request);
  const auto found = engine::same_bytes_transposed(shape, order_of(request), request.inputs[0].layout);
  if (!found) return Offer::refuse("elements lie in another order");
  if (!is_float_type(dtype) && (found->input != Layout::kPlain || found->result != Layout::kPlain))
    return Offer::refuse("only images of floating types lie otherwise than plain");
  Offer offer;
  offer.inputs = {{dtype, shape, found->input}};
  offer.outputs = {{dtype, request.outputs[0].shape, found->result}};
  offer.concatenates = true;
  const int64_t bytes = offer.outputs[0].bytes();
  offer.kernel = std::make_shared<LaunchKernel>(
      "a copy", [=](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        if (inputs[0] == outputs[0]) return cudaSuccess;
        return copy_blocks(inputs[0], bytes, outputs[0], bytes, bytes, 1, options);
      });
  return offer;
}

Offer offer_transpose(const StepRequest& request, engine::WeightStore&) {
  const Shape& shape = request.inputs[0].shape;
  const DType dtype = moved_type(request);
  const std::vector<int64_t> perm = order_of(request);
  const auto strides = tensor::row_major_strides(shape);
  StridedView view;
  for (const int64_t from : perm) {
    view.sizes.push_back(shape[static_cast<size_t>(from)]);
    view.strides.push_back(strides[static_cast<size_t>(from)]);
  }
  const size_t moved = merged(view).sizes.size();
  if (moved > kMostMoved)
    return Offer::refuse(fmt::format("it moves {} dimensions, {} at most", moved, kMostMoved));
  const size_t bytes = tensor::dtype_size(dtype);
  Offer offer;
  offer.inputs = {{dtype, shape, Layout::kPlain}};
  offer.outputs = {{dtype, request.outputs[0].shape, Layout::kPlain}};
  offer.kernel = std::make_shared<LaunchKernel>(
      "a transpose",
      [=](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        return gather_strided(inputs[0], outputs[0], bytes, view, options);
      },
      tensor::element_count(shape) != 0);
  return offer;
}

Offer offer_views(const StepRequest& request, engine::WeightStore&) {
  NodeViews views = node_views(request);
  if (views.refusal) return Offer::refuse(std::move(views.refusal));
  const DType dtype = moved_type(request);
  const size_t bytes = tensor::dtype_size(dtype);
  Offer offer;
  offer.inputs = {{dtype, request.inputs[0].shape, views.layout}};
  offer.inputs.resize(request.inputs.size());
  bool moves = false;
  for (const TensorDesc& output : request.outputs) {
    offer.outputs.push_back({dtype, output.shape, views.layout});
    moves = moves || tensor::element_count(output.shape) != 0;
  }
  offer.kernel = std::make_shared<LaunchKernel>(
      "a view",
      [=, views = std::move(views.outputs)](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        for (size_t i = 0; i < views.size(); ++i) {
          const cudaError_t status = gather_strided(inputs[0], outputs[i], bytes, views[i], options);
          if (status != cudaSuccess) return status;
        }
        return cudaSuccess;
      },
      moves);
  return offer;
}

}  // namespace

std::shared_ptr<const engine::Kernel> make_strided_copy_kernel(DType dtype, const engine::Shape& shape,
                                                               const engine::Shape& strides) {
  const StridedView view = merged({shape, strides});
  if (view.sizes.size() > static_cast<size_t>(kMostMoved)) return nullptr;
  const size_t bytes = tensor::dtype_size(dtype);
  return std::make_shared<LaunchKernel>("a reorder",
                                        [=](auto inputs, auto outputs, void*, const LaunchOptions& options) {
                                          return gather_strided(inputs[0], outputs[0], bytes, view, options);
                                        });
}

void add_movement_tactics(TacticList& list) {
  list.push_back({.name = "copy_blocks", .operators = {"Concat"}, .make = offer_concat});
  list.push_back({.name = "same_bytes", .operators = {"Transpose"}, .make = offer_same_bytes});
  list.push_back(
      {.name = "gather_strided", .operators = {"Transpose"}, .starts_early = true, .make = offer_transpose});
  list.push_back({.name = "gather_strided",
                  .operators = node_view_operators(),
                  .starts_early = true,
                  .make = offer_views});
}

}  // namespace hone::device::cuda
