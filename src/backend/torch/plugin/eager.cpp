// The eager runner, which executes a program call by call.
#include "backend/torch/plugin/program.hpp"
#include "backend/torch/plugin/runner.hpp"

namespace hone::backend::aten {
namespace {

class EagerRunner final : public Runner {
 public:
  explicit EagerRunner(std::shared_ptr<Program> program)
      : Runner(program->placement()), program_(std::move(program)) {}

  std::unique_ptr<Runner> share() const override { return std::make_unique<EagerRunner>(program_); }
  std::vector<at::Tensor> run() override { return program_->run(inputs_); }
  int64_t weight_bytes() const override { return program_->weight_bytes(); }
  std::vector<StepInfo> steps() const override { return program_->steps("ATen"); }

 private:
  std::shared_ptr<Program> program_;
};

}  // namespace

std::unique_ptr<Runner> make_eager_runner(BoundGraph graph, const Placement& placement) {
  return std::make_unique<EagerRunner>(
      std::make_shared<Program>(std::move(graph), placement, "torch", /*traced=*/false));
}

}  // namespace hone::backend::aten
