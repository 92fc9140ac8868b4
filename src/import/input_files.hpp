// Reads files as tensors for the inputs of a model.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "graph/graph.hpp"
#include "import/image/preprocess.hpp"
#include "tensor/tensor.hpp"

namespace hone::importer {

struct ImageBatch {
  tensor::Tensor tensor;
  int64_t fitted = 0;  ///< side of the square that images were resized and cropped to; 0: none was
};

/// Reads PNG and JPEG files as one batch for an input of this type. The layout, unless one is forced, is NCHW
/// except if only the last axis can have 1 or 3 channels. Integer inputs take the pixels unscaled unless the
/// preprocessing scales them. There is no batch axis if the input has none. If the preprocessing sets no
/// sizes and the input is square, images are resized and cropped to it. Throws bad input that names the file.
ImageBatch image_input(std::span<const std::string> files, const graph::TensorType& type,
                       const Preprocessing& preprocessing, std::optional<Layout> layout);

/// "images were resized and cropped to 224 x 224", for ImageBatch::fitted.
std::string fitted_text(int64_t side);

/// Converts an array from a file for an input of this name and type. If it does not fit, throws bad input
/// that names file, input and both types. With `any_batch`, axis 0 may have any size.
tensor::Tensor array_input(const tensor::Tensor& array, const std::string& name,
                           const graph::TensorType& type, const std::string& file, bool any_batch = false);

}  // namespace hone::importer
