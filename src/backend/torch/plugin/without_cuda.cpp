// The functions of cuda.hpp for a libtorch that was built without CUDA.
#include <torch/version.h>

#include "backend/torch/plugin/cuda.hpp"
#include "tensor/place.hpp"

namespace hone::backend::aten {

void require_cuda_build(std::string_view backend) {
  fail_environment(
      "the backend {} cannot run on cuda: this libtorch ({}) was built without CUDA (configure hone with "
      "-DHONE_TORCH_PREFIX=.../site-packages/torch of a PyTorch that has it)",
      backend, TORCH_VERSION);
}

at::Device find_device(const LoadOptions& options, std::string_view backend) {
  if (tensor::parse_place(options.device).kind != tensor::PlaceKind::kCpu) require_cuda_build(backend);
  return at::kCPU;
}

void synchronize(at::Device) {}
void release_cache(at::Device) {}
int64_t held_bytes(at::Device) { return 0; }
std::string bus_id(at::Device) { return {}; }
void evict_caches(at::Device) {}
double time_between_events(at::Device, const std::function<void()>&) { return 0; }
double time_copies(at::Device, std::span<const int64_t>, Direction) { return 0; }

std::unique_ptr<Pipeline> make_stream_pipeline(const Runner&, int, bool,
                                               std::span<const std::vector<tensor::Tensor>>,
                                               const OutputType&) {
  return nullptr;
}

std::unique_ptr<BoundRuns> make_stream_runs(const Runner&, std::span<const tensor::TensorView>,
                                            const DeviceExchange&, const OutputType&) {
  return nullptr;
}

std::unique_ptr<Runner> make_captured_runner(BoundGraph, const Placement&) {
  require_cuda_build("torch-graph");
  return nullptr;
}

}  // namespace hone::backend::aten
