// A partitioned model as one executable: its regions run one after the other, each on its backend. A value
// stays where its block wrote it, and the next block reads it there. All blocks on a GPU whose backends bind
// submit their runs to one queue; values pass through the host only for other blocks.
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
  /// The predicted milliseconds of a run for inputs of `predicted_shapes`.
  std::optional<double> predicted_ms;
  std::map<std::string, tensor::Shape> predicted_shapes;
};

class PartitionedExecutable final : public Executable {
 public:
  /// Loads the blocks whose input shapes are known; the others are loaded in the first run. An error of a
  /// block names the block.
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

  /// True if blocks exchange values on a GPU.
  bool on_device() const { return exchange_ != nullptr; }
  /// execute() with a wait after each block, so that the blocks can be timed separately.
  void execute_apart();
  /// Microseconds of each block, including borders; 0 for a block whose nodes were all folded. They are those
  /// of the last run or execute_apart(). On a GPU they are only those of execute_apart(), by the GPU's clock
  /// if the block is bound.
  const std::vector<double>& block_us() const { return block_us_; }
  /// The steps of each block; empty for a block that is not loaded.
  std::vector<std::vector<StepInfo>> block_steps() const;
  /// Microseconds of each block's steps, by name, as the systems' own profilers report them for runs on the
  /// last inputs; empty for a block whose system reports nothing.
  std::vector<std::map<std::string, double>> profile_steps(int runs);

 private:
  /// The loaded blocks, for one set of shapes or for all.
  struct Loaded;
  struct Part;

  Loaded& loaded_for(const std::map<std::string, tensor::Shape>& shapes);
  std::unique_ptr<Loaded> make(const graph::Graph& bound, const graph::Graph& typed);
  const std::string& backend_name(size_t block) const;
  std::unique_ptr<Executable> load(const Part& part, const std::map<std::string, tensor::Shape>& shapes,
                                   bool only_these);
  /// Binds a part if its backend supports that and all its shapes are known.
  void bind(Loaded& loaded, Part& part);
  void give_inputs(std::span<const tensor::Tensor> inputs);
  void run_parts(bool apart);
  void run_part(Loaded& loaded, Part& part);
  void run_on_host(Loaded& loaded, Part& part);
  /// The value on the host, copied there if necessary.
  const tensor::Tensor& on_host(Loaded& loaded, graph::ValueId id);

  PartitionedModel model_;
  LoadOptions options_;
  std::vector<std::unique_ptr<Backend>> backends_;
  /// Null on the CPU, or if no backend binds. Blocks are destroyed before it.
  std::unique_ptr<DeviceExchange> exchange_;
  /// One entry if blocks hold for all shapes; otherwise the last few, the latest first.
  std::vector<std::pair<std::map<std::string, tensor::Shape>, std::unique_ptr<Loaded>>> loaded_;
  bool for_all_shapes_ = false;
  /// The blocks loaded for the shapes of the last inputs.
  Loaded* current_ = nullptr;
  std::map<std::string, tensor::Shape> shapes_;
  std::vector<double> block_us_;
};

}  // namespace hone::backend::partition
