// A partitioned model as one executable: its regions run one after the other, each on its backend. Values
// stay where the block that made them left them, and the next one reads them there.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/partition/blocks.hpp"

namespace hone::backend::partition {

struct PartitionedModel {
  std::string name;
  std::shared_ptr<const graph::Graph> graph;  ///< prepared
  Blocks blocks;
  std::vector<std::string> backends;
  /// What a run is predicted to take, milliseconds, for these inputs.
  std::optional<double> predicted_ms;
  std::map<std::string, tensor::Shape> predicted_shapes;
};

class PartitionedExecutable final : public Executable {
 public:
  /// Loads the blocks whose input shapes are known, the others at the first run. An error of a block names
  /// it.
  PartitionedExecutable(PartitionedModel model, const LoadOptions& options);
  ~PartitionedExecutable() override;

  std::vector<tensor::Tensor> run(std::span<const tensor::Tensor> inputs) override;
  std::unique_ptr<Observer> observe(const ObserveOptions& options) override;
  bool was_tuned() const override;
  MemoryUse memory() const override;
  std::vector<StepInfo> steps() const override;
  std::optional<double> predicted_ms() const override;
  std::vector<std::string> notes() const override;

  /// Of each block in the last run, microseconds, borders included; 0 for one that nothing was left of.
  const std::vector<double>& block_us() const { return block_us_; }
  /// The steps of each block; empty for one that is not loaded.
  std::vector<std::vector<StepInfo>> block_steps() const;

 private:
  /// The blocks as they were loaded for one set of shapes, or for all.
  struct Loaded;

  Loaded& loaded_for(const std::map<std::string, tensor::Shape>& shapes);
  std::unique_ptr<Loaded> make(const graph::Graph& bound, const graph::Graph& typed) const;

  PartitionedModel model_;
  LoadOptions options_;
  std::vector<std::unique_ptr<Backend>> backends_;
  /// One where blocks hold for all shapes, else the last few, the latest first.
  std::vector<std::pair<std::map<std::string, tensor::Shape>, std::unique_ptr<Loaded>>> loaded_;
  bool for_all_shapes_ = false;
  std::map<std::string, tensor::Shape> shapes_;
  std::vector<double> block_us_;
};

}  // namespace hone::backend::partition
