// See runner.hpp.
#include "quantize/runner.hpp"

#include "reference/interpreter.hpp"

namespace hone::quantize {
namespace {

class ReferenceRunner final : public Runner {
 public:
  explicit ReferenceRunner(const graph::Graph& graph) : graph_(graph) {}
  std::vector<tensor::Tensor> run(std::span<const tensor::Tensor> inputs) override {
    return reference::run_graph(graph_, inputs);
  }

 private:
  graph::Graph graph_;
};

}  // namespace

std::unique_ptr<Runner> make_reference_runner(const graph::Graph& graph,
                                              std::span<const tensor::Tensor> /*example*/) {
  return std::make_unique<ReferenceRunner>(graph);
}

}  // namespace hone::quantize
