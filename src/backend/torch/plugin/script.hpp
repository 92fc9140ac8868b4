// TorchScript modules: traced from a program or read from a user's archive, frozen and optimized.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/torch/plugin/program.hpp"

namespace hone::backend::aten {

class Script {
 public:
  /// Records one run of the program on these inputs.
  static std::unique_ptr<Script> trace(Program& program, const std::vector<at::Tensor>& inputs);
  /// Bad input, naming the file, if it is not a TorchScript archive or has no usable forward().
  static std::unique_ptr<Script> read(const std::filesystem::path& file, const Placement& placement);

  ~Script();
  /// Names of the arguments of forward(), without self.
  const std::vector<std::string>& input_names() const;
  std::vector<at::Tensor> run(const std::vector<at::Tensor>& inputs);
  /// Runs several times, since the profiling executor records types in its first runs and then specializes.
  void warm_up(const std::vector<at::Tensor>& inputs);
  /// Bytes of the parameters and buffers before they were folded and packed.
  int64_t weight_bytes() const;
  /// Nodes of the optimized graph, without constants.
  std::vector<StepInfo> steps() const;

 private:
  struct State;
  explicit Script(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace hone::backend::aten
