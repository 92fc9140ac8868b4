// The files given to `hone run` as the tensors a model takes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "import/image/preprocess.hpp"
#include "tensor/tensor.hpp"

namespace hone::cli {

/// An input of a model, by name and type.
struct InputSlot {
  std::string name;
  graph::TensorType type;
};

struct RunInputs {
  /// One per slot, in the slots' order.
  std::vector<tensor::Tensor> tensors;
  /// What each row of the batch came from, for messages; empty unless the input is images.
  std::vector<std::string> images;
};

/// The names that files give values to: those of arrays in .npz, and what may be one in NAME:FILE.
std::vector<std::string> names_in(const std::vector<std::string>& files);

/// Reads .npy (the next input without a tensor, or NAME:FILE), .npz (by name) and images (all of them one
/// batch of the next input). Bad input naming the file, or the input that got no tensor.
RunInputs read_run_inputs(const std::vector<InputSlot>& slots, const std::vector<std::string>& files,
                          const importer::Preprocessing& preprocessing,
                          std::optional<importer::Layout> layout);

}  // namespace hone::cli
