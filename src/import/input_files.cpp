// See input_files.hpp.
#include "import/input_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tensor/saturate.hpp"

namespace hone::importer {
namespace {

using tensor::Tensor;

bool is_channel_count(const graph::Dim& dim) { return dim.is(1) || dim.is(3); }

/// True for the type of one image, or of a batch of images.
bool is_image(const graph::TensorType& type) {
  return type.ranked() && (type.dims->size() == 3 || type.dims->size() == 4);
}

/// The layout of the input: NCHW unless only the last axis can have 1 or 3 channels.
Layout layout_of(const graph::TensorType& type) {
  if (!is_image(type)) return Layout::kNchw;
  const graph::Dim& first = (*type.dims)[type.dims->size() - 3];
  const bool last = is_channel_count(type.dims->back()) && !is_channel_count(first);
  return last ? Layout::kNhwc : Layout::kNchw;
}

int64_t channels_of(const graph::TensorType& type, Layout layout) {
  if (!is_image(type)) return 3;
  return (*type.dims)[type.dims->size() - (layout == Layout::kNchw ? 3 : 1)].is(1) ? 1 : 3;
}

/// Side of the input's images if they are square; 0 if they are not, or if their size is open.
int64_t square_of(const graph::TensorType& type, Layout layout) {
  if (!is_image(type)) return 0;
  const size_t height = type.dims->size() - (layout == Layout::kNchw ? 2 : 3);
  const graph::Dim& side = (*type.dims)[height];
  return side.known() && (*type.dims)[height + 1].is(side.value()) ? side.value() : 0;
}

/// Integer inputs take the pixels unscaled, 0 to 255, unless the preprocessing sets a scale.
Preprocessing for_type(Preprocessing preprocessing, tensor::DType dtype) {
  if (tensor::is_integer(dtype) && preprocessing.scale == Preprocessing().scale) preprocessing.scale = 1;
  return preprocessing;
}

/// Converts a float32 batch of images to the input's element type, and drops the batch if the input has none.
Tensor in_form_of(const graph::TensorType& type, Tensor batch) {
  const bool one = type.ranked() && type.dims->size() == 3 && batch.shape()[0] == 1;
  if (one) batch = batch.reshaped({batch.shape().begin() + 1, batch.shape().end()});
  if (type.dtype == tensor::DType::kUndefined) return batch;
  if (tensor::is_integer(type.dtype)) {
    Tensor whole(tensor::DType::kFloat32, batch.shape());
    std::ranges::transform(batch.values<float>(), whole.mutable_values<float>().begin(),
                           [](float value) { return std::nearbyint(value); });
    return whole.cast(type.dtype);
  }
  return tensor::saturated(batch, type.dtype);
}

/// A .npy file cannot hold bfloat16, so numbers of other floating types are converted to it.
Tensor as_bfloat16(const Tensor& tensor) {
  if (!tensor::is_floating(tensor.dtype())) return tensor;
  return tensor::saturated(tensor.cast(tensor::DType::kFloat32), tensor::DType::kBFloat16);
}

bool fits(const Tensor& tensor, const graph::TensorType& type, bool any_batch) {
  if (type.dtype != tensor::DType::kUndefined && type.dtype != tensor.dtype()) return false;
  if (!type.ranked()) return true;
  if (type.dims->size() != tensor.shape().size()) return false;
  for (size_t i = any_batch ? 1 : 0; i < type.dims->size(); ++i) {
    const graph::Dim& dim = (*type.dims)[i];
    if (dim.known() && dim.value() != tensor.shape()[i]) return false;
  }
  return true;
}

}  // namespace

ImageBatch image_input(std::span<const std::string> files, const graph::TensorType& type,
                       const Preprocessing& preprocessing, std::optional<Layout> forced) {
  const Layout layout = forced.value_or(layout_of(type));
  std::vector<Image> images;
  for (const std::string& file : files) images.push_back(read_image(file, channels_of(type, layout)));
  Preprocessing used = for_type(preprocessing, type.dtype);
  ImageBatch batch;
  const int64_t side = square_of(type, layout);
  const auto fits = [&](const Image& image) { return image.width == side && image.height == side; };
  if (side > 0 && !used.as_is && used.resize == 0 && used.crop == 0 && !std::ranges::all_of(images, fits))
    used.resize = used.crop = batch.fitted = side;
  batch.tensor = in_form_of(type, images_to_tensor(images, used, layout));
  return batch;
}

std::string fitted_text(int64_t side) {
  return fmt::format("images were resized and cropped to {0} x {0}", side);
}

Tensor array_input(const Tensor& array, const std::string& name, const graph::TensorType& type,
                   const std::string& file, bool any_batch) {
  const Tensor tensor = type.dtype == tensor::DType::kBFloat16 ? as_bfloat16(array) : array;
  if (!fits(tensor, type, any_batch && tensor.rank() > 0)) {
    fail_bad_input("{}: {}[{}] does not fit input '{}' of type {}", file, tensor::dtype_name(tensor.dtype()),
                   tensor::shape_text(tensor.shape()), name, type.text());
  }
  return tensor;
}

}  // namespace hone::importer
