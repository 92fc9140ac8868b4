// The plugin's entry point and its two backends.
#include <ATen/Parallel.h>
#include <torch/version.h>

#include "backend/torch/plugin/executable.hpp"

namespace hone::backend::aten {
namespace {

class TorchBackend final : public Backend {
 public:
  explicit TorchBackend(bool scripted) : scripted_(scripted) {}

  std::string_view name() const override { return scripted_ ? "torchscript" : "torch"; }
  std::string version() const override { return TORCH_VERSION; }

  std::unique_ptr<Executable> load(const importer::Model& model, const LoadOptions& options) override {
    require_cpu(options, name());
    if (options.precision != Precision::kFp32 && options.precision != Precision::kBf16) {
      fail_environment("the backend {} runs in fp32 and bf16 on CPUs, not in {}", name(),
                       precision_name(options.precision));
    }
    if (model.graph == nullptr) {
      if (!scripted_) fail_bad_input("{} is a TorchScript archive; use --backend torchscript", model.name);
      return make_archive_executable(model, options);
    }
    return make_graph_executable(model, options, scripted_ ? make_script_runner : make_eager_runner);
  }

 private:
  bool scripted_;
};

}  // namespace

void use_threads(int threads) {
  // Operators run one after the other; PyTorch lets this be set once in a process.
  static const bool kOnce = [] {
    at::set_num_interop_threads(1);
    return true;
  }();
  (void)kOnce;
  if (at::get_num_threads() != threads) at::set_num_threads(threads);
}

std::vector<std::string> precision_notes(Precision precision) {
  if (precision != Precision::kBf16) return {};
  // What PyTorch asks for before it hands bf16 convolutions and products to oneDNN.
  const bool avx512 = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq");
  if (!avx512) return {"bf16 runs in PyTorch's plain loops: this CPU has no AVX-512 (BW, VL, DQ)"};
  if (!__builtin_cpu_supports("avx512bf16")) {
    return {"bf16 is emulated by oneDNN: this CPU has no AVX-512 BF16"};
  }
  return {};
}

}  // namespace hone::backend::aten

/// See torch_backend.cpp.
extern "C" __attribute__((visibility("default"))) hone::backend::Backend* hone_make_torch_backend(
    const char* name) {
  return new hone::backend::aten::TorchBackend(std::string_view(name) == "torchscript");
}
