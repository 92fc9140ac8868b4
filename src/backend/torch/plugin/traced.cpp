// The TorchScript runner of a graph: its program, traced once on zeros.
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>

#include "backend/torch/plugin/convert.hpp"
#include "backend/torch/plugin/program.hpp"
#include "backend/torch/plugin/runner.hpp"
#include "backend/torch/plugin/script.hpp"

namespace hone::backend::aten {
namespace {

std::vector<at::Tensor> zero_inputs(const Program& program) {
  std::vector<at::Tensor> result;
  for (const graph::ValueId id : program.graph().inputs) {
    const graph::TensorType& type = program.graph().value(id).type;
    std::vector<int64_t> shape;
    for (const graph::Dim& dim : *type.dims) shape.push_back(dim.value());
    result.push_back(at::zeros(shape, at::TensorOptions().dtype(program.scalar_type(type.dtype))));
  }
  return result;
}

class ScriptRunner final : public Runner {
 public:
  explicit ScriptRunner(std::unique_ptr<Script> script) : script_(std::move(script)) {}

  std::vector<at::Tensor> run(std::vector<at::Tensor> inputs) override { return script_->run(inputs); }
  int64_t weight_bytes() const override { return script_->weight_bytes(); }
  std::vector<StepInfo> steps() const override { return script_->steps(); }

 private:
  std::unique_ptr<Script> script_;
};

}  // namespace

std::unique_ptr<Runner> make_script_runner(BoundGraph graph, Precision precision) {
  // The tracer records ordinary tensors, not those of inference mode.
  const c10::InferenceMode ordinary(false);
  Program program(std::move(graph), precision, "torchscript", /*traced=*/true);
  auto script = Script::trace(program, zero_inputs(program));
  const c10::InferenceMode inference;
  script->warm_up(zero_inputs(program));
  return std::make_unique<ScriptRunner>(std::move(script));
}

}  // namespace hone::backend::aten
