// Turns the files given to `hone run` into the tensors that a model takes.
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
  /// True if its value is an output of the previous run.
  bool bound = false;
  /// True if it may be missing from the files; its tensor is undefined then.
  bool optional = false;
};

/// Inputs of one run.
struct RunInputs {
  /// One tensor for each slot, in the order of the slots. Tensors of bound slots may be undefined in the
  /// first run, and are undefined in later runs.
  std::vector<tensor::Tensor> tensors;
  /// File of each row of the batch, for messages; empty unless the input is images.
  std::vector<std::string> images;
  /// Side of the square to which images were resized and cropped by default; 0 if they were not.
  int64_t fitted = 0;
};

/// Returns the names of inputs for which the files may hold values: the arrays in .npz files, and each NAME
/// in NAME:FILE.
std::vector<std::string> names_in(const std::vector<std::string>& files);

/// Reads .npy files (for NAME, or for the next input without a tensor), .npz files (by name) and images (all
/// images are one batch of the next input). Bad input that names the file, or the input without a tensor.
RunInputs read_run_inputs(const std::vector<InputSlot>& slots, const std::vector<std::string>& files,
                          const importer::Preprocessing& preprocessing,
                          std::optional<importer::Layout> layout);

/// Reads the inputs of consecutive runs. Bound slots take the results of the previous run; files may give
/// them a value by name only for the first run. If a file is for an input that already has a value in the
/// current run, it begins the next run; inputs without a file keep their tensors there.
std::vector<RunInputs> read_bound_inputs(const std::vector<InputSlot>& slots,
                                         const std::vector<std::string>& files,
                                         const importer::Preprocessing& preprocessing,
                                         std::optional<importer::Layout> layout);

}  // namespace hone::cli
