// See calibration_runner.hpp.
#include "backend/hone/calibration_runner.hpp"

#include "backend/hone/build_request.hpp"
#include "engine/context.hpp"

namespace hone::backend {
namespace {

class EngineRunner final : public quantize::Runner {
 public:
  EngineRunner(const std::shared_ptr<const engine::Engine>& engine, const engine::Device& device, int threads)
      : context_(engine, device, threads) {}
  std::vector<tensor::Tensor> run(std::span<const tensor::Tensor> inputs) override {
    return context_.run(inputs);
  }

 private:
  engine::Context context_;
};

}  // namespace

quantize::MakeRunner engine_runners(int threads) {
  return [threads](const graph::Graph& graph,
                   std::span<const tensor::Tensor> example) -> std::unique_ptr<quantize::Runner> {
    BuildRequest request;
    request.threads = threads;
    request.optimization_level = 0;
    request.cache.used = false;
    for (size_t i = 0; i < example.size(); ++i)
      request.shapes[graph.value(graph.inputs[i]).name].opt = example[i].shape();
    importer::Model model;
    model.graph = std::make_shared<const graph::Graph>(graph);
    const ResolvedBuild resolved = resolve(request, model);
    const auto engine = build(resolved);
    return std::make_unique<EngineRunner>(engine, resolved.device, engine->threads);
  };
}

}  // namespace hone::backend
