// Accuracy of a run: compares its outputs for the first few samples with those of the fp32 reference. The
// reference is slow, so a separate worker computes its outputs once for each model, and they are cached on
// disk.
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

/// Outputs of the reference for the first units of the inputs. A unit is a sample, or the whole input of a
/// model with a fixed batch.
class ReferenceOutputs {
 public:
  /// Stores the reason why accuracy is not measured.
  explicit ReferenceOutputs(std::string reason) : reason_(std::move(reason)) {}
  /// Indexed by [unit][output].
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
  Command command;  ///< starts a worker that runs the reference backend
  std::filesystem::path folder;
  double timeout_seconds = 120;
  int threads = 1;
  const system::StopFlag* stop = nullptr;
};

/// Takes the outputs from the cache, else from a worker. On failure, the result contains the reason.
ReferenceOutputs reference_outputs(const ReferenceRequest& request);

/// `outputs` belong to consecutive input sets, each with `units_per_set` units.
Accuracy compare_to_reference(const ReferenceOutputs& reference,
                              const std::vector<std::vector<OutputFile>>& outputs, int64_t units_per_set);

/// Returns why outputs of a run at `batch` cannot be those of the model, whatever their values: a wrong
/// number of outputs, a wrong rank, or a wrong dimension that both the graph and the reference know. Empty if
/// they can be. `expected` holds the results of the reference for one unit, because the declarations in a
/// file are often wrong.
std::string impossible_outputs(const ModelInfo& model, const std::vector<tensor::Tensor>& expected,
                               const std::vector<OutputFile>& outputs, int64_t batch);

/// Reads the tensor in an output file. Bad input if the length of the file does not match its type and shape.
tensor::Tensor read_output(const OutputFile& file);

}  // namespace hone::bench
