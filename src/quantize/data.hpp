// Calibration data: images, arrays, or the output of a program, delivered one sample after another.
#pragma once

#include <deque>
#include <filesystem>
#include <functional>
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
  /// Folders, whose images (.png, .jpg, .jpeg), .npz and .npy files are read in the order of their names;
  /// such files; or "exec:COMMAND", a program that prints the names of the files that it wrote
  /// (docs/QUANTIZE.md).
  std::vector<std::string> sources;
  importer::Preprocessing preprocessing;
  std::optional<importer::Layout> layout;
  /// Number of samples to use; 0 for all.
  int64_t limit = 0;
  /// Number of samples that are run together if the model's batch is open. A sample with another shape begins
  /// a new run.
  int64_t together = 1;
  /// Samples in memory, which come before those of the sources: tensors in the order of the model's inputs.
  std::vector<std::vector<tensor::Tensor>> given = {};
  /// Entries of metadata for the preprocessing if it differs from that of the model.
  std::map<std::string, std::string> image_metadata = {};
  /// Receives importer::ImageBatch::fitted of each image that was resized by default.
  std::function<void(int64_t)> on_fitted = {};
};

/// The inputs of one run of a model.
struct Samples {
  /// In the order of the graph's inputs.
  std::vector<tensor::Tensor> inputs;
  /// Number of samples: the model's batch if that is fixed, else at most DataOptions::together.
  int64_t count = 1;
  /// The origin of each sample, for messages: "images/cat.png", "batch.npz[3]".
  std::vector<std::string> sources;
};

/// The program of an "exec:" source.
class BatchProgram;

class CalibrationData {
 public:
  /// Usage error for a model without inputs; bad input for a source that is missing or holds nothing.
  CalibrationData(const graph::Graph& graph, DataOptions options);
  ~CalibrationData();

  /// Returns nullopt at the end. Bad input that names the file if data cannot be read, do not fit the model
  /// or contain NaN; also bad input at the end if there was no sample at all.
  std::optional<Samples> next();
  /// Share of the data that has been read; nullopt if a program delivers them.
  std::optional<double> progress() const;
  /// Number of samples at the end that did not fill the model's batch.
  int64_t left_over() const { return left_over_; }
  /// True if images were read.
  bool has_images() const { return has_images_; }

 private:
  struct Sample {
    std::vector<tensor::Tensor> inputs;
    std::string source;
  };

  /// Returns false at the end of the data.
  bool read_more();
  bool read_file(const std::string& file);
  void add_arrays(const std::string& file, const std::vector<std::pair<std::string, tensor::Tensor>>& arrays);
  void add(std::vector<tensor::Tensor> inputs, const std::string& file);
  /// The number of waiting samples, at most `batch_`, that have the shapes of the first one.
  size_t count_alike() const;
  Samples joined(size_t count);

  const graph::Graph& graph_;
  DataOptions options_;
  /// True if axis 0 of all inputs is the same batch, which may be split.
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
