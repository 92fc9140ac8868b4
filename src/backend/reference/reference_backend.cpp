// See reference_backend.hpp.
#include "backend/reference/reference_backend.hpp"

#include "reference/interpreter.hpp"

namespace hone::backend {
namespace {

class ReferenceExecutable final : public Executable {
 public:
  explicit ReferenceExecutable(std::shared_ptr<const graph::Graph> graph) : graph_(std::move(graph)) {}

  std::vector<tensor::Tensor> run(std::span<const tensor::Tensor> inputs) override {
    return reference::run_graph(*graph_, inputs);
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
};

}  // namespace

std::unique_ptr<Backend> make_reference_backend() { return std::make_unique<ReferenceBackend>(); }

}  // namespace hone::backend
