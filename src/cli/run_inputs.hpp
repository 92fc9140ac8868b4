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
  /// True if its value is an output of the previous run.
  bool bound = false;
  /// True if it may go without a file; its tensor is then undefined.
  bool optional = false;
};

/// Inputs of one run.
struct RunInputs {
  /// One per slot, in the slots' order. Tensors of bound slots may be undefined, and are in later runs.
  std::vector<tensor::Tensor> tensors;
  /// File that each row of the batch came from, for messages; empty unless the input is images.
  std::vector<std::string> images;
  /// Side of the square that images were resized and cropped to, as nobody said otherwise; 0: none was.
  int64_t fitted = 0;
};

/// The names that files give values to: those of arrays in .npz, and what may be one in NAME:FILE.
std::vector<std::string> names_in(const std::vector<std::string>& files);

/// Reads .npy (the next input without a tensor, or NAME:FILE), .npz (by name) and images (all of them one
/// batch of the next input). Bad input naming the file, or the input that got no tensor.
RunInputs read_run_inputs(const std::vector<InputSlot>& slots, const std::vector<std::string>& files,
                          const importer::Preprocessing& preprocessing,
                          std::optional<importer::Layout> layout);

/// Reads the inputs of runs that follow each other. Bound slots get the results of the run before: files may
/// give them a value by name, for the first run. A file for an input that has one in this run is the first of
/// the next run, in which inputs without a file keep their tensors.
std::vector<RunInputs> read_bound_inputs(const std::vector<InputSlot>& slots,
                                         const std::vector<std::string>& files,
                                         const importer::Preprocessing& preprocessing,
                                         std::optional<importer::Layout> layout);

}  // namespace hone::cli
