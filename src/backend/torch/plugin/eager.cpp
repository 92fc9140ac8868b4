// The eager runner: a program as it is.
#include "backend/torch/plugin/program.hpp"
#include "backend/torch/plugin/runner.hpp"

namespace hone::backend::aten {
namespace {

class EagerRunner final : public Runner {
 public:
  EagerRunner(BoundGraph graph, const Placement& placement)
      : Runner(placement), program_(std::move(graph), placement, "torch", /*traced=*/false) {}

  std::vector<at::Tensor> run() override { return program_.run(inputs_); }
  int64_t weight_bytes() const override { return program_.weight_bytes(); }
  std::vector<StepInfo> steps() const override { return program_.steps("ATen"); }

 private:
  Program program_;
};

}  // namespace

std::unique_ptr<Runner> make_eager_runner(BoundGraph graph, const Placement& placement) {
  return std::make_unique<EagerRunner>(std::move(graph), placement);
}

}  // namespace hone::backend::aten
