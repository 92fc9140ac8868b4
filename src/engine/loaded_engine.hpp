// An engine on a device: packed weights, and the program of each shape met, which all contexts share.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "engine/engine.hpp"
#include "engine/program/program.hpp"

namespace hone::engine {

/// Safe for concurrent use. It outlives the programs that it gave.
class LoadedEngine {
 public:
  /// `threads`: that each run uses. Bad input for an engine with a numeric policy that the device does not
  /// run, which no builder makes. The device outlives it.
  LoadedEngine(std::shared_ptr<const Engine> engine, const Device& device, int threads);

  /// The program for inputs of these shapes that lie in these layouts (all plain where none are named), in
  /// graph order; for batches above the engine's micro-batch that of one group. It is compiled once, by the
  /// first thread that asks; others that ask for it or for another new one wait, and those that ask for a
  /// known one do not. Bad input when a step cannot run with these shapes.
  std::shared_ptr<const Program> program(std::span<const Shape> shapes,
                                         const std::vector<Layout>& layouts = {});

  const Engine& engine() const { return *engine_; }
  const Device& device() const { return device_; }
  int threads() const { return threads_; }
  /// Bytes of the packed weights: the engine's own, and further ones that its programs needed.
  int64_t packed_bytes() const { return packed_bytes_; }

 private:
  /// Programs kept; the one that was asked for longest ago makes room for another.
  static constexpr size_t kMaxPrograms = 16;

  struct Entry {
    std::vector<Shape> shapes;
    std::vector<Layout> layouts;
    std::shared_ptr<const Program> program;
  };

  /// Null where it is not known.
  std::shared_ptr<const Program> find(const std::vector<Shape>& shapes, const std::vector<Layout>& layouts);

  std::shared_ptr<const Engine> engine_;
  const Device& device_;
  int threads_;
  /// Held by the thread that compiles, for seconds.
  std::mutex compiling_;
  /// The engine's, whose bytes it shares, and what is packed here.
  WeightStore weights_;
  std::atomic<int64_t> packed_bytes_;
  std::mutex programs_mutex_;
  /// The one that was asked for last at the end.
  std::vector<Entry> programs_;
};

/// The shapes of the program that runs inputs of these shapes: one group's where the batch, the same in all
/// inputs, is above the engine's micro-batch.
std::vector<Shape> program_shapes(const Engine& engine, std::span<const Shape> shapes);

/// Compiles the engine for inputs of these shapes; weights are taken from the store, or packed into it.
std::unique_ptr<Program> compile(const Engine& engine, const Device& device, const std::vector<Shape>& shapes,
                                 WeightStore& weights, const std::vector<Layout>& input_layouts = {});

}  // namespace hone::engine
