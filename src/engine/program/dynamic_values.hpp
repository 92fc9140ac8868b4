// Values whose shapes are only known when a program runs, and the steps that touch them or run subgraphs:
// these take and give whole tensors in host memory, whatever the device.
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

  /// Takes the inputs, in graph order, whose shapes the program does not know; lets go of those that are not
  /// given.
  void set_inputs(std::span<const tensor::Tensor> inputs);

  /// Brings the bytes of a stored operand to the host, and puts a result there.
  using Fetch = std::function<tensor::Tensor(const Operand&)>;
  using Store = std::function<void(const Operand&, const tensor::Tensor&)>;

  /// Runs one step. Internal error when a result has another shape than inference said.
  void run(const ProgramStep& step, const Fetch& fetch, const Store& store);

 private:
  const Program& program_;
  /// Indexed by value id.
  std::vector<tensor::Tensor> values_;
  /// By step: of its node kernel, and the values that nobody reads after it.
  std::vector<std::unique_ptr<KernelState>> states_;
  std::vector<std::vector<int64_t>> dying_;
};

}  // namespace hone::engine
