// The TorchScript runner of a graph, whose program is traced once on zeros.
#include <c10/core/InferenceMode.h>

#include "backend/torch/plugin/program.hpp"
#include "backend/torch/plugin/runner.hpp"
#include "backend/torch/plugin/script.hpp"

namespace hone::backend::aten {
namespace {

class ScriptRunner final : public Runner {
 public:
  ScriptRunner(std::shared_ptr<Script> script, const Placement& placement)
      : Runner(placement), script_(std::move(script)) {}

  std::unique_ptr<Runner> share() const override {
    return std::make_unique<ScriptRunner>(script_, placement_);
  }
  std::vector<at::Tensor> run() override { return script_->run(inputs_); }
  int64_t weight_bytes() const override { return script_->weight_bytes(); }
  std::vector<StepInfo> steps() const override { return script_->steps(); }

 private:
  std::shared_ptr<Script> script_;
};

}  // namespace

std::unique_ptr<Runner> make_script_runner(BoundGraph graph, const Placement& placement) {
  // The tracer records ordinary tensors, but not those of inference mode.
  const c10::InferenceMode ordinary(false);
  Program program(std::move(graph), placement, "torchscript", /*traced=*/true);
  auto script = Script::trace(program, program.zero_inputs());
  const c10::InferenceMode inference;
  script->warm_up(program.zero_inputs());
  return std::make_unique<ScriptRunner>(std::move(script), placement);
}

}  // namespace hone::backend::aten
