// Files as the tensors that a model's inputs take.
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
  int64_t fitted = 0;  ///< side of the square that an image was resized and cropped to; 0: none was
};

/// PNG and JPEG files as one batch of an input of this type: in its layout, which is NCHW unless only the
/// last axis can be 1 or 3 channels and none is forced; in its element type, where integers take the pixels
/// as they are unless the preprocessing scales them; without the batch where the input has none. Where the
/// preprocessing says nothing of sizes and the input is a square, images are resized and cropped to it. Bad
/// input naming the file.
ImageBatch image_input(std::span<const std::string> files, const graph::TensorType& type,
                       const Preprocessing& preprocessing, std::optional<Layout> layout);

/// An array of a file for an input of this name and type. Bad input naming file, input and both types where
/// it does not fit; the size of axis 0 may be anything where `any_batch` says so.
tensor::Tensor array_input(const tensor::Tensor& array, const std::string& name,
                           const graph::TensorType& type, const std::string& file, bool any_batch = false);

}  // namespace hone::importer
