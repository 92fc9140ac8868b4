// See views.hpp.
#include "api/views.hpp"

#include "base/checked.hpp"

namespace hone::api {

tensor::Place inner_place(Place place) {
  const bool cuda = place.kind == PlaceKind::kCuda;
  if (place.ordinal < 0 || (!cuda && place.ordinal != 0))
    fail_usage("there is no place of ordinal {}", place.ordinal);
  return {cuda ? tensor::PlaceKind::kCuda : tensor::PlaceKind::kCpu, place.ordinal};
}

Place outer_place(tensor::Place place) {
  return {place.kind == tensor::PlaceKind::kCuda ? PlaceKind::kCuda : PlaceKind::kCpu, place.ordinal};
}

tensor::TensorView inner_view(const TensorView& view) {
  if (view.type == DataType::kUndefined) return {};
  const auto dtype = static_cast<tensor::DType>(view.type);
  if (!tensor::is_supported(dtype)) fail_usage("{} is no element type", static_cast<int>(view.type));
  tensor::element_count(view.dims);
  tensor::TensorView made{
      .dtype = dtype, .shape = view.dims, .strides = view.strides, .read_only = view.read_only};
  made.buffer = {.place = inner_place(view.place),
                 .data = const_cast<std::byte*>(view.bytes.data()),
                 .bytes = base::checked_cast<int64_t>(view.bytes.size()),
                 .owner = view.owner};
  return made;
}

TensorView outer_view(const tensor::TensorView& view) {
  TensorView made;
  if (!view.defined()) return made;
  made = TensorView(outer_place(view.buffer.place), view.data(), static_cast<size_t>(view.buffer.bytes),
                    static_cast<DataType>(view.dtype), view.shape, view.strides);
  made.read_only = view.read_only;
  made.owner = view.buffer.owner;
  return made;
}

std::vector<tensor::TensorView> inner_views(const std::vector<TensorView>& views) {
  std::vector<tensor::TensorView> made;
  for (const TensorView& view : views) made.push_back(inner_view(view));
  return made;
}

std::vector<TensorView> outer_views(const std::vector<tensor::TensorView>& views) {
  std::vector<TensorView> made;
  for (const tensor::TensorView& view : views) made.push_back(outer_view(view));
  return made;
}

tensor::Tensor inner_tensor(const TensorView& view) {
  const tensor::TensorView inner = inner_view(view);
  if (!inner.defined()) fail_usage("an input is no tensor");
  if (inner.buffer.place.kind != tensor::PlaceKind::kCpu || !is_row_major(inner))
    fail_usage("Engine::run() takes row-major tensors on the host: bind others to a Context");
  const int64_t size = tensor::element_count(view.dims);
  if (static_cast<uint64_t>(size) != view.bytes.size() / tensor::dtype_size(inner.dtype) ||
      view.bytes.size() % tensor::dtype_size(inner.dtype) != 0) {
    fail_usage("a buffer of {} bytes is given for {} {}", view.bytes.size(), tensor::dtype_name(inner.dtype),
               tensor::shape_text(view.dims));
  }
  return {inner.dtype, view.dims, view.bytes.data(), nullptr};
}

Tensor outer_tensor(tensor::Tensor made) {
  const auto owner = std::make_shared<const tensor::Tensor>(std::move(made));
  return {static_cast<DataType>(owner->dtype()), owner->shape(), {owner->bytes(), owner->byte_size()}, owner};
}

}  // namespace hone::api
