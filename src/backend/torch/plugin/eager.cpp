// The eager runner: a program as it is.
#include "backend/torch/plugin/program.hpp"
#include "backend/torch/plugin/runner.hpp"

namespace hone::backend::aten {
namespace {

class EagerRunner final : public Runner {
 public:
  EagerRunner(BoundGraph graph, Precision precision)
      : program_(std::move(graph), precision, "torch", /*traced=*/false) {}

  std::vector<at::Tensor> run(std::vector<at::Tensor> inputs) override {
    return program_.run(std::move(inputs));
  }
  int64_t weight_bytes() const override { return program_.weight_bytes(); }
  std::vector<StepInfo> steps() const override {
    std::vector<StepInfo> result;
    for (const graph::Node& node : program_.graph().nodes) {
      result.push_back({node.name, node.op, node.sources, "ATen"});
    }
    return result;
  }

 private:
  Program program_;
};

}  // namespace

std::unique_ptr<Runner> make_eager_runner(BoundGraph graph, Precision precision) {
  return std::make_unique<EagerRunner>(std::move(graph), precision);
}

}  // namespace hone::backend::aten
