// See execution.hpp.
#include "engine/program/execution.hpp"

#include "reference/interpreter.hpp"

namespace hone::engine {

using tensor::Tensor;

std::vector<Tensor> Execution::run(std::span<const Tensor> inputs, std::vector<double>* step_times) {
  upload(inputs);
  executor().execute(step_times);
  return executor().download();
}

void Execution::upload(std::span<const Tensor> inputs) {
  reference::check_inputs(program_->graph(), inputs);
  executor().upload(inputs);
}

Executor& Execution::executor() {
  if (executor_ == nullptr) executor_ = device_.make_executor(*program_);
  return *executor_;
}

}  // namespace hone::engine
