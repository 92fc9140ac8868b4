// A program that goes on after the GPU's memory ran out has as much of it as before, and the next run works:
// an engine is built and run with ever more room, until there is enough. Twice: the driver keeps a block of
// its own after some shortages, and no more of them the second time.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <vector>

#include "base/error.hpp"
#include "base/out_of_memory.hpp"
#include "device/devices.hpp"
#include "engine/builder.hpp"
#include "engine/context.hpp"
#include "gpu_or_skip.hpp"
#include "import/load.hpp"

namespace hone::device::cuda {
namespace {

constexpr size_t kMegabyte = 1'000'000;
/// The smallest allocation of the driver.
constexpr size_t kBlock = size_t{2} << 20;

/// All of the GPU's free memory but so much, as long as it lives.
class Held {
 public:
  explicit Held(size_t left) {
    for (size_t block = size_t{64} << 30; block >= kBlock; block /= 2) {
      while (free_bytes() >= left + block && hold(block)) {
      }
    }
  }
  ~Held() {
    for (void* memory : blocks_) (void)cudaFree(memory);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  static size_t free_bytes() {
    size_t free = 0;
    size_t total = 0;
    if (cudaMemGetInfo(&free, &total) != cudaSuccess) fail_internal("the GPU does not tell its free memory");
    return free;
  }

 private:
  bool hold(size_t bytes) {
    void* memory = nullptr;
    if (cudaMalloc(&memory, bytes) != cudaSuccess) {
      (void)cudaGetLastError();
      return false;
    }
    blocks_.push_back(memory);
    return true;
  }

  std::vector<void*> blocks_;
};

/// Builds an engine and runs it once.
void build_and_run(const graph::Graph& graph, const engine::Device& gpu) {
  engine::BuildOptions options;
  options.precision = tensor::Precision::kFp16;
  options.optimization_level = 0;
  engine::Context context(engine::build_engine(graph, gpu, options), gpu, 1);
  tensor::Tensor image(tensor::DType::kFloat32, {8, 3, 224, 224});
  for (float& value : image.mutable_values<float>()) value = 0.5F;
  context.run(std::vector{image});
}

/// Whether the room was enough; a failure that is not one of memory, or that leaves an allocation behind, is
/// thrown.
bool fits(const graph::Graph& graph, const engine::Device& gpu, size_t room) {
  const int64_t allocated = gpu.memory().allocated;
  bool fitted = true;
  {
    const Held held(room);
    try {
      build_and_run(graph, gpu);
    } catch (const Error& error) {
      std::printf("%zu MB: %s\n", room / kMegabyte, error.what());
      if (error.kind() != ErrorKind::kEnvironment || !is_out_of_memory(error)) throw;
      fitted = false;
    }
  }
  if (gpu.memory().allocated != allocated)
    fail_internal("{} bytes are allocated where {} were before", gpu.memory().allocated, allocated);
  std::printf("%zu MB: %s, %zu bytes are free\n", room / kMegabyte, fitted ? "enough" : "too little",
              Held::free_bytes());
  return fitted;
}

/// How many rooms were too small before one was enough; thrown where none was.
int count_shortages(const graph::Graph& graph, const engine::Device& gpu) {
  int shortages = 0;
  for (const size_t room : {4, 12, 24, 36, 48, 64, 96, 256}) {
    if (fits(graph, gpu, room * kMegabyte)) return shortages;
    ++shortages;
  }
  fail_internal("no room was enough");
}

void check_shortages() {
  const engine::Device& gpu = find_device("cuda");
  const graph::Graph graph = *importer::load_model("resnet18").graph;
  build_and_run(graph, gpu);  // loads kernels and libraries, which stay
  if (count_shortages(graph, gpu) == 0) fail_internal("no room was too small");
  const size_t free = Held::free_bytes();
  count_shortages(graph, gpu);
  if (Held::free_bytes() < free)
    fail_internal("{} bytes of the GPU's memory did not come back", free - Held::free_bytes());
}

int run() {
  if (const int status = status_without_gpu(); status != 0) return status;
  return run_check(check_shortages);
}

}  // namespace
}  // namespace hone::device::cuda

int main() { return hone::device::cuda::run(); }
