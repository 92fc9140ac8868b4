// A partitioned model as one executable: its regions run one after the other, each on its backend. Values
// stay where the block that made them left them, and the next one reads them there. All blocks on a GPU whose
// backends bind hand their runs to one queue; values go over the host only for the others.
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
  /// The predicted time of a run, milliseconds, for these inputs.
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
  void upload(std::span<const tensor::Tensor> inputs) override;
  void execute() override;
  std::vector<tensor::Tensor> download() override;
  std::string bus_id() const override;
  std::unique_ptr<Observer> observe(const ObserveOptions& options) override;
  bool was_tuned() const override;
  MemoryUse memory() const override;
  std::vector<StepInfo> steps() const override;
  std::optional<double> predicted_ms() const override;
  std::vector<std::string> notes() const override;

  /// True if blocks meet on a GPU.
  bool on_device() const { return exchange_ != nullptr; }
  /// execute() with a wait after each block, so that each one's time can be told from the others'.
  void execute_apart();
  /// Time of each block, microseconds, borders included; 0 for one whose nodes were all folded. They are
  /// those of the last run or execute_apart(); on a GPU only of the latter, by the GPU's clock where the
  /// block is bound.
  const std::vector<double>& block_us() const { return block_us_; }
  /// The steps of each block; empty for one that is not loaded.
  std::vector<std::vector<StepInfo>> block_steps() const;
  /// Microseconds of each block's steps, by their names, as the systems' own profilers report them for runs
  /// on the inputs given last; empty for a block whose system reports nothing.
  std::vector<std::map<std::string, double>> profile_steps(int runs);

 private:
  /// The blocks as they were loaded for one set of shapes, or for all.
  struct Loaded;
  struct Part;

  Loaded& loaded_for(const std::map<std::string, tensor::Shape>& shapes);
  std::unique_ptr<Loaded> make(const graph::Graph& bound, const graph::Graph& typed);
  const std::string& backend_name(size_t block) const;
  std::unique_ptr<Executable> load(const Part& part, const std::map<std::string, tensor::Shape>& shapes,
                                   bool only_these);
  /// Binds a part where its backend does and all of its shapes are known.
  void bind(Loaded& loaded, Part& part);
  void give_inputs(std::span<const tensor::Tensor> inputs);
  void run_parts(bool apart);
  void run_part(Loaded& loaded, Part& part);
  void run_on_host(Loaded& loaded, Part& part);
  /// The value on the host, brought there if need be.
  const tensor::Tensor& on_host(Loaded& loaded, graph::ValueId id);

  PartitionedModel model_;
  LoadOptions options_;
  std::vector<std::unique_ptr<Backend>> backends_;
  /// Null on the CPU, and where no backend binds. Blocks end before it.
  std::unique_ptr<DeviceExchange> exchange_;
  /// One where blocks hold for all shapes, else the last few, the latest first.
  std::vector<std::pair<std::map<std::string, tensor::Shape>, std::unique_ptr<Loaded>>> loaded_;
  bool for_all_shapes_ = false;
  /// The blocks loaded for the shapes of the last inputs.
  Loaded* current_ = nullptr;
  std::map<std::string, tensor::Shape> shapes_;
  std::vector<double> block_us_;
};

}  // namespace hone::backend::partition
