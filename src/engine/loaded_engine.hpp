// An engine on a device: packed weights, and the programs of the shapes used so far, which all contexts
// share.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "engine/engine.hpp"
#include "engine/program/program.hpp"

namespace hone::engine {

/// Safe for concurrent use. It must outlive the programs that it returns.
class LoadedEngine {
 public:
  /// Each run uses `threads` threads. Bad input for an engine with a numeric policy that the device cannot
  /// run; builders never make such an engine. The device must outlive it.
  LoadedEngine(std::shared_ptr<const Engine> engine, const Device& device, int threads);

  /// Returns the program for inputs of these shapes in these layouts (all plain if none are given), in graph
  /// order. For batches above the engine's micro-batch, it is the program of one group. The first thread that
  /// needs a program compiles it; threads that need this or another new program wait, but known programs are
  /// returned at once. Bad input if a step cannot run with these shapes.
  std::shared_ptr<const Program> program(std::span<const Shape> shapes,
                                         const std::vector<Layout>& layouts = {});

  const Engine& engine() const { return *engine_; }
  const Device& device() const { return device_; }
  int threads() const { return threads_; }
  /// Bytes of the packed weights: those of the engine file, and those that its programs added.
  int64_t packed_bytes() const { return packed_bytes_; }

 private:
  /// Limit on programs; a new one replaces the least recently used one.
  static constexpr size_t kMaxPrograms = 16;

  struct Entry {
    std::vector<Shape> shapes;
    std::vector<Layout> layouts;
    std::shared_ptr<const Program> program;
  };

  /// Returns null if it is not known.
  std::shared_ptr<const Program> find(const std::vector<Shape>& shapes, const std::vector<Layout>& layouts);

  std::shared_ptr<const Engine> engine_;
  const Device& device_;
  int threads_;
  /// Held by the thread that compiles, which may take seconds.
  std::mutex compiling_;
  /// Shares the engine's packed weights, and adds those that are packed here.
  WeightStore weights_;
  std::atomic<int64_t> packed_bytes_;
  std::mutex programs_mutex_;
  /// The most recently used one is at the end.
  std::vector<Entry> programs_;
};

/// The shapes of the program for inputs of these shapes: those of one group if the batch, which must be the
/// same for all inputs, is above the engine's micro-batch.
std::vector<Shape> program_shapes(const Engine& engine, std::span<const Shape> shapes);

/// Compiles the engine for inputs of these shapes; weights are taken from the store, or packed and added to
/// it.
std::unique_ptr<Program> compile(const Engine& engine, const Device& device, const std::vector<Shape>& shapes,
                                 WeightStore& weights, const std::vector<Layout>& input_layouts = {});

}  // namespace hone::engine
