// Accuracy of a run: its outputs compared with those of the fp32 reference for the first few samples. The
// reference is slow, so its outputs are computed once a model, in a worker of their own, and cached on disk.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "bench/results/run.hpp"
#include "bench/sweep/peers.hpp"
#include "bench/worker/inputs.hpp"
#include "bench/worker/model_info.hpp"
#include "bench/worker/worker_client.hpp"

namespace hone::bench {

/// Outputs of the reference for the first units of the inputs (samples, or the whole input of a model whose
/// batch is fixed).
class ReferenceOutputs {
 public:
  /// Says why accuracy is not measured.
  explicit ReferenceOutputs(std::string reason) : reason_(std::move(reason)) {}
  /// [unit][output].
  explicit ReferenceOutputs(std::vector<std::vector<tensor::Tensor>> outputs)
      : outputs_(std::move(outputs)) {}

  bool available() const { return reason_.empty(); }
  const std::string& reason() const { return reason_; }
  int64_t units() const { return static_cast<int64_t>(outputs_.size()); }
  const std::vector<tensor::Tensor>& unit(int64_t i) const { return outputs_[static_cast<size_t>(i)]; }

 private:
  std::string reason_;
  std::vector<std::vector<tensor::Tensor>> outputs_;
};

struct ReferenceRequest {
  const ModelInfo& model;
  InputPool& inputs;
  Command command;  ///< of a worker that runs the reference backend
  std::filesystem::path folder;
  double timeout_seconds = 120;
  int threads = 1;
  const system::StopFlag* stop = nullptr;
};

/// From the cache, else from a worker. A failure is a ReferenceOutputs with its reason.
ReferenceOutputs reference_outputs(const ReferenceRequest& request);

/// `outputs` are those of consecutive input sets, each holding `units_per_set` units.
Accuracy compare_to_reference(const ReferenceOutputs& reference,
                              const std::vector<std::vector<OutputFile>>& outputs, int64_t units_per_set);

/// Why outputs of a run at `batch` cannot be the model's, whatever their values are: their number, their
/// rank, or a dimension that the graph knows and the reference has. Empty when they can be. `expected`: the
/// reference's results for one unit, since a file's declarations alone are often wrong.
std::string impossible_outputs(const ModelInfo& model, const std::vector<tensor::Tensor>& expected,
                               const std::vector<OutputFile>& outputs, int64_t batch);

/// The tensor in an output file; bad input when the file's length is not that of its type and shape.
tensor::Tensor read_output(const OutputFile& file);

}  // namespace hone::bench
