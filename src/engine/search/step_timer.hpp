// Times whole programs step by step, on inputs that are never zero.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/program/execution.hpp"

namespace hone::engine {

/// Returns inputs for a graph with concrete shapes: standard normal floats with a fixed seed, ones for other
/// types.
std::vector<tensor::Tensor> timing_inputs(const graph::Graph& graph);

/// Times of the steps of one program, collected over runs.
class StepTimer {
 public:
  explicit StepTimer(Execution& program)
      : program_(program), node_times_(program.program().graph().nodes.size()) {}

  /// Takes one sample. Steps that the engine inserted before a step are added to its time, and the pieces of
  /// a dissolved node are added up.
  void sample(std::span<const tensor::Tensor> inputs);
  /// Takes a sample on the inputs uploaded last; the outputs stay on the device.
  void sample_uploaded();
  /// Microseconds per run of one node (index in the graph).
  const std::vector<double>& node_times(size_t node) const { return node_times_[node]; }
  /// Times of a piece of a dissolved node if the piece is a step; empty for any other piece.
  const std::vector<double>& times(const StepKey& key) const;
  const std::vector<double>& total_times() const { return totals_; }

 private:
  void add_step_times();

  Execution& program_;
  std::vector<std::vector<double>> node_times_;
  std::map<StepKey, std::vector<double>> piece_times_;
  std::vector<double> totals_;
  std::vector<double> step_times_;
};

/// Microseconds of one execution on the inputs uploaded last.
double network_us(Execution& program);

/// Quantile q in [0, 1] by linear interpolation; 0 if there are no samples.
double sample_quantile(std::vector<double> samples, double q);

}  // namespace hone::engine
