// Real inputs to calibrate with: images, arrays, or what a program writes, one sample after another.
#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "import/image/preprocess.hpp"
#include "tensor/tensor.hpp"

namespace hone::quantize {

struct DataOptions {
  /// Folders, which are searched for images (.png, .jpg, .jpeg), .npz and .npy files in the order of their
  /// names; such files; or "exec:COMMAND", a program that says which files it has written (docs/QUANTIZE.md).
  std::vector<std::string> sources;
  importer::Preprocessing preprocessing;
  std::optional<importer::Layout> layout;
  /// Samples to use; 0: all.
  int64_t limit = 0;
  /// Samples that are run together where the model's batch is open; those of another shape begin a new run.
  int64_t together = 1;
  /// Samples in memory, before those of the sources: tensors in the order of the model's inputs.
  std::vector<std::vector<tensor::Tensor>> given = {};
  /// Entries of metadata that give the preprocessing where the model's own give another one.
  std::map<std::string, std::string> image_metadata = {};
};

/// The inputs of one run of a model.
struct Samples {
  /// Inputs in the order of the graph's.
  std::vector<tensor::Tensor> inputs;
  /// As many as the model's batch, where that is fixed, else one.
  int64_t count = 1;
  /// Where each is from, for messages: "images/cat.png", "batch.npz[3]".
  std::vector<std::string> sources;
};

/// The program of "exec:".
class BatchProgram;

class CalibrationData {
 public:
  /// Usage error for a model without inputs; bad input for a source that is missing or holds nothing.
  CalibrationData(const graph::Graph& graph, DataOptions options);
  ~CalibrationData();

  /// Nullopt at the end. Bad input naming the file for data that cannot be read, do not fit the model or hold
  /// NaN, and at the end when there was no sample at all.
  std::optional<Samples> next();
  /// Share of the data that has been read; nullopt where a program decides.
  std::optional<double> progress() const;
  /// Samples at the end that were too few for the model's batch.
  int64_t left_over() const { return left_over_; }
  /// True if images were read.
  bool has_images() const { return has_images_; }

 private:
  struct Sample {
    std::vector<tensor::Tensor> inputs;
    std::string source;
  };

  /// False at the end of the data.
  bool read_more();
  bool read_file(const std::string& file);
  void add_arrays(const std::string& file, const std::vector<std::pair<std::string, tensor::Tensor>>& arrays);
  void add(std::vector<tensor::Tensor> inputs, const std::string& file);
  /// How many of those that wait, at most `batch_`, have the shapes of the first.
  size_t count_alike() const;
  Samples joined(size_t count);

  const graph::Graph& graph_;
  DataOptions options_;
  /// Axis 0 of all inputs is one batch, which may be cut.
  bool batched_ = false;
  /// True if a run may have fewer samples than `batch_`.
  bool open_ = false;
  size_t batch_ = 1;
  std::vector<std::string> files_;
  size_t next_file_ = 0;
  size_t next_given_ = 0;
  std::vector<std::string> commands_;
  std::unique_ptr<BatchProgram> program_;
  std::deque<Sample> waiting_;
  int64_t given_ = 0;
  int64_t left_over_ = 0;
  bool has_images_ = false;
};

}  // namespace hone::quantize
