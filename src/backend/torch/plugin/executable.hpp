// The executables of all backends here: they convert between hone's tensors and PyTorch's around a runner.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/torch/plugin/runner.hpp"
#include "import/model.hpp"

namespace hone::backend::aten {

class RunnerExecutable : public Executable {
 public:
  std::vector<tensor::Tensor> run(std::span<const tensor::Tensor> inputs) final;
  void upload(std::span<const tensor::Tensor> inputs) final;
  void execute() final;
  std::vector<tensor::Tensor> download() final;
  Bound bind(std::span<const tensor::TensorView> inputs, DeviceExchange& exchange) final;
  bool has_phases() const final { return placement_.device.is_cuda(); }
  RunPhases time_phases(bool cold) final;
  bool has_pipeline() const final { return placement_.device.is_cuda(); }
  std::unique_ptr<Pipeline> make_pipeline(int streams, bool transfers,
                                          std::span<const std::vector<tensor::Tensor>> sets) final;
  std::string bus_id() const final;
  MemoryUse memory() const final;
  std::unique_ptr<Observer> observe(const ObserveOptions& options) final;
  std::vector<StepInfo> steps() const final;
  std::vector<std::string> notes() const final;

 protected:
  RunnerExecutable(const LoadOptions& options, at::Device device);

  /// The runner for these inputs. Bad input if the model does not accept them.
  virtual Runner& runner_for(std::span<const tensor::Tensor> inputs) = 0;
  /// The element type in which output i is returned.
  virtual tensor::DType output_type(size_t i, const at::Tensor& output) const = 0;
  /// Null before the first runner is made.
  virtual const Runner* current() const = 0;

  const int threads_;
  /// The device and precision, without a layout.
  const Placement placement_;
  /// The reason for the runner's layout.
  std::string layout_note_;

 private:
  void set_inputs(std::span<const tensor::Tensor> inputs);
  void compute();

  Runner* runner_ = nullptr;
  /// Bytes of each uploaded input.
  std::vector<int64_t> input_bytes_;
  std::vector<at::Tensor> results_;
};

/// Makes an executable for a model with a graph.
std::unique_ptr<Executable> make_graph_executable(const importer::Model& model, const LoadOptions& options,
                                                  at::Device device, MakeRunner make_runner);
/// The reasons why a program of this backend cannot run the nodes of a model; `traced` is that of Program.
std::vector<Refusal> refused_nodes(const graph::Graph& graph, const LoadOptions& options,
                                   const Placement& placement, const std::string& backend, bool traced);
/// Makes an executable for a user's own TorchScript archive.
std::unique_ptr<Executable> make_archive_executable(const importer::Model& model, const LoadOptions& options,
                                                    at::Device device);

}  // namespace hone::backend::aten
