// Values whose shapes become known only at run time, and the steps that use them or run subgraphs. These
// steps take and return whole tensors in host memory on every device.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/program/program.hpp"

namespace hone::engine {

class DynamicValues {
 public:
  explicit DynamicValues(const Program& program);

  /// Takes the inputs (in graph order) whose shapes the program does not know, and releases those that are
  /// not given.
  void set_inputs(std::span<const tensor::Tensor> inputs);

  /// Copies a stored operand to the host, and stores a result.
  using Fetch = std::function<tensor::Tensor(const Operand&)>;
  using Store = std::function<void(const Operand&, const tensor::Tensor&)>;

  /// Runs one step. Internal error if a result has another shape than was inferred.
  void run(const ProgramStep& step, const Fetch& fetch, const Store& store);

 private:
  const Program& program_;
  /// Indexed by value id.
  std::vector<tensor::Tensor> values_;
  /// By step: the state of its node kernel, and the values that no later step reads.
  std::vector<std::unique_ptr<KernelState>> states_;
  std::vector<std::vector<int64_t>> dying_;
};

}  // namespace hone::engine
