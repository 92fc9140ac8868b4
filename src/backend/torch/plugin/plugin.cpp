// The plugin's entry point and its backends.
#include <torch/version.h>

#include <algorithm>

#include "backend/torch/plugin/cuda.hpp"
#include "backend/torch/plugin/executable.hpp"
#include "tensor/place.hpp"

namespace hone::backend::aten {
namespace {

struct Kind {
  std::string_view name;
  MakeRunner make_runner;
  /// True for tracing backends, which cannot record operations that depend on the values of activations.
  bool traced = false;
  bool cuda_only = false;
};

constexpr Kind kKinds[] = {
    {"torch", make_eager_runner},
    {"torchscript", make_script_runner, /*traced=*/true},
    {"torch-graph", make_captured_runner, /*traced=*/true, /*cuda_only=*/true},
};

void check_precision(Precision precision, at::Device device, std::string_view backend) {
  const bool fast = precision == Precision::kTf32 || precision == Precision::kFp16;
  if (precision == Precision::kFp32 || precision == Precision::kBf16 || (device.is_cuda() && fast)) return;
  fail_environment("the backend {} runs in {}, not in {}", backend,
                   device.is_cuda() ? "fp32, tf32, fp16 and bf16" : "fp32 and bf16 on CPUs",
                   precision_name(precision));
}

class TorchBackend final : public Backend {
 public:
  explicit TorchBackend(const Kind& kind) : kind_(kind) {}

  std::string_view name() const override { return kind_.name; }
  std::string version(std::string_view) const override { return TORCH_VERSION; }
  void require_device(std::string_view device) const override {
    if (tensor::parse_place(device).kind != tensor::PlaceKind::kCpu) return require_cuda_build(name());
    if (kind_.cuda_only)
      fail_environment("the backend {} replays CUDA graphs, so it needs --device cuda", name());
  }

  std::unique_ptr<Executable> load(const importer::Model& model, const LoadOptions& options) override {
    require_device(options.device);
    const at::Device device = find_device(options, name());
    check_precision(options.precision, device, name());
    if (model.graph == nullptr) {
      if (name() != "torchscript")
        fail_bad_input("{} is a TorchScript archive, which the backend torchscript runs", model.name);
      return make_archive_executable(model, options, device);
    }
    return make_graph_executable(model, options, device, kind_.make_runner);
  }

  std::vector<Refusal> refusals(const importer::Model& model, const LoadOptions& options) override {
    const Placement placement{options.precision, find_device(options, name())};
    return refused_nodes(*model.graph, options, placement, std::string(name()), kind_.traced);
  }

  bool binds() const override { return true; }

  /// Inputs are read in place; outputs are copied to hone's tensors.
  Handover handover(std::string_view device) const override {
    if (tensor::parse_place(device).kind == tensor::PlaceKind::kCpu) return {.output_copies = 1};
    return Backend::handover(device);
  }

 private:
  const Kind& kind_;
};

}  // namespace
}  // namespace hone::backend::aten

/// See backend/registry.cpp.
extern "C" __attribute__((visibility("default"))) hone::backend::Backend* hone_make_backend(
    const char* name) {
  using namespace hone::backend::aten;
  const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [&](const Kind& entry) { return entry.name == name; });
  if (kind == std::end(kKinds)) hone::fail_internal("the torch plugin has no backend {}", name);
  return new TorchBackend(*kind);
}
