// Values whose shapes are only known when a program runs, and the steps that touch them: these run the
// reference kernel of their node on host memory, whatever the device.
#pragma once

#include <functional>
#include <vector>

#include "engine/program/program.hpp"

namespace hone::engine {

class DynamicValues {
 public:
  explicit DynamicValues(const Program& program);

  /// Brings the bytes of a stored operand to the host, and puts a result there.
  using Fetch = std::function<tensor::Tensor(const Operand&)>;
  using Store = std::function<void(const Operand&, const tensor::Tensor&)>;

  /// Runs one step. Internal error when a result has another shape than inference said.
  void run(const ProgramStep& step, const Fetch& fetch, const Store& store);

 private:
  const Program& program_;
  /// By value id.
  std::vector<tensor::Tensor> values_;
};

}  // namespace hone::engine
