// The state of one running engine: compiled programs, one per shape met, with their arenas.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/program/program.hpp"

namespace hone::engine {

/// Used by one thread at a time; several contexts may not share an engine concurrently, because a new
/// shape may pack weights into it.
class Context {
 public:
  /// Bad input for an engine in a precision that the device does not run, which no builder makes.
  Context(std::shared_ptr<const Engine> engine, const Device& device, int threads);

  /// Outputs in graph order. Bad input when an input's type or shape is outside what the engine accepts.
  std::vector<tensor::Tensor> run(std::span<const tensor::Tensor> inputs);

  /// The program that runs inputs of these shapes, compiled now if need be. For batches above the engine's
  /// micro-batch this is the program of one group.
  Program& program(std::span<const Shape> shapes);

  const Engine& engine() const { return *engine_; }

 private:
  /// Programs kept; the oldest makes room for a new shape.
  static constexpr size_t kMaxPrograms = 16;

  /// Whether the batch, the same in all inputs, is larger than the engine's groups.
  bool runs_in_groups(std::span<const Shape> shapes) const;
  void check_profile(std::span<const tensor::Tensor> inputs) const;
  Program& compiled(const std::vector<Shape>& shapes);
  std::vector<tensor::Tensor> run_groups(std::span<const tensor::Tensor> inputs, int64_t batch,
                                         int64_t group);

  std::shared_ptr<const Engine> engine_;
  const Device& device_;
  int threads_;
  std::vector<std::pair<std::vector<Shape>, std::unique_ptr<Program>>> programs_;
};

/// Whether every image of a batch is computed without the others, so that a batch may be split: all inputs
/// and outputs share a symbolic first dimension and every operator in between keeps images apart.
bool splits_by_batch(const graph::Graph& graph);

}  // namespace hone::engine
