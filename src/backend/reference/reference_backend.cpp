// See reference_backend.hpp.
#include "backend/reference/reference_backend.hpp"

#include <optional>

#include "base/ranges.hpp"
#include "reference/interpreter.hpp"
#include "reference/kernel.hpp"

namespace hone::backend {
namespace {

class ReferenceExecutable final : public Executable {
 public:
  explicit ReferenceExecutable(std::shared_ptr<const graph::Graph> graph) : graph_(std::move(graph)) {}

  std::vector<tensor::Tensor> run(std::span<const tensor::Tensor> inputs) override {
    // A node's range lasts until the next one's begins.
    size_t next = 0;
    std::optional<base::Range> range;
    const auto announce = [&] {
      range.reset();
      if (next < graph_->nodes.size()) range.emplace(graph_->nodes[next++].name);
    };
    announce();
    return reference::run_graph(*graph_, inputs,
                                [&](const graph::Node&, std::span<const tensor::Tensor>) { announce(); });
  }

  std::vector<StepInfo> steps() const override {
    std::vector<StepInfo> steps;
    const std::vector<std::vector<int32_t>> predecessors = graph::node_predecessors(*graph_);
    for (const graph::Node& node : graph_->nodes) {
      StepInfo& step = steps.emplace_back(StepInfo{node.name, node.op, node.sources, "reference"});
      step.predecessors = predecessors[steps.size() - 1];
    }
    return steps;
  }

 private:
  std::shared_ptr<const graph::Graph> graph_;
};

class ReferenceBackend final : public Backend {
 public:
  std::string_view name() const override { return "reference"; }
  std::string version(std::string_view) const override { return HONE_VERSION; }

  std::unique_ptr<Executable> load(const importer::Model& model, const LoadOptions& options) override {
    require_device(options.device);
    if (options.precision != Precision::kFp32) {
      fail_environment("the reference backend runs in fp32 only, not in {}",
                       precision_name(options.precision));
    }
    if (model.graph == nullptr)
      fail_bad_input("{} is a TorchScript archive, which the backend torchscript runs", model.name);
    return std::make_unique<ReferenceExecutable>(model.graph);
  }

  std::vector<Refusal> refusals(const importer::Model& model, const LoadOptions&) override {
    return nodes_without_kernel(*model.graph);
  }
};

}  // namespace

std::vector<Refusal> nodes_without_kernel(const graph::Graph& graph) {
  std::vector<Refusal> refusals;
  for (const graph::Node& node : graph.nodes) {
    const bool known = reference::find_kernel(node.op) != nullptr;
    refusals.push_back(known ? Refusal() : Refusal(fmt::format("no kernel computes {}", node.op)));
  }
  return refusals;
}

std::unique_ptr<Backend> make_reference_backend() { return std::make_unique<ReferenceBackend>(); }

}  // namespace hone::backend
