// One engine on two GPUs at the same time, no GPU of which may read the other's memory directly (peer access
// is off unless a program enables it), and copies between the two.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "device/cuda/plugin/context.hpp"
#include "device/cuda/plugin/device_guard.hpp"
#include "device/cuda/plugin/runtime.hpp"
#include "device/devices.hpp"
#include "engine/builder.hpp"
#include "engine/context.hpp"
#include "gpu_or_skip.hpp"
#include "import/load.hpp"
#include "reference/interpreter.hpp"
#include "tensor/metrics.hpp"

namespace hone::device::cuda {
namespace {

constexpr int kGpus = 2;
constexpr int kRuns = 20;

/// Rounding of float32 at random signs: 2^-24 for each of the square root of so many products, in each of
/// ResNet-18's layers.
double tolerance() {
  constexpr double kLayers = 21;
  constexpr double kMostProducts = 512 * 3 * 3;
  return kLayers * std::sqrt(kMostProducts) * std::ldexp(1.0, -24);
}

tensor::Tensor image(int seed) {
  tensor::Tensor made(tensor::DType::kFloat32, {1, 3, 224, 224});
  float value = 0.1F * static_cast<float>(seed + 1);
  for (float& element : made.mutable_values<float>()) {
    value = std::fmod(value * 1.7F + 0.3F, 1.0F);
    element = value;
  }
  return made;
}

int current_gpu() {
  int ordinal = -1;
  if (cudaGetDevice(&ordinal) != cudaSuccess) fail_internal("CUDA does not tell which GPU is current");
  return ordinal;
}

/// The results of one GPU, and how far they are from the reference.
class Lane {
 public:
  Lane(const graph::Graph& graph, const std::shared_ptr<engine::Engine>& engine, int ordinal)
      : place_{tensor::PlaceKind::kCuda, ordinal},
        input_(image(ordinal)),
        expected_(reference::run_graph(graph, std::vector{input_})[0]),
        context_(engine, device_of_fingerprint(engine->fingerprint(), place_), 1) {
    run();  // packs weights and captures, which threads of one engine do after each other
  }

  void run() {
    const double error = tensor::relative_l2(context_.run(std::vector{input_})[0], expected_);
    worst_ = std::max(worst_, error);
  }

  /// On a thread of its own, whose current GPU stays the other one.
  void run_often(int current) {
    if (cudaSetDevice(current) != cudaSuccess) fail_internal("cuda:{} cannot be made current", current);
    for (int i = 0; i < kRuns; ++i) run();
    current_afterwards_ = current_gpu();
  }

  void check(int current) const {
    std::printf("%s: error %.2g, of %.2g allowed\n", tensor::place_text(place_).c_str(), worst_, tolerance());
    if (!(worst_ <= tolerance())) fail_internal("{} computes something else", tensor::place_text(place_));
    if (current_afterwards_ != current)
      fail_internal("cuda:{} is current on a thread that chose cuda:{}", current_afterwards_, current);
  }

 private:
  tensor::Place place_;
  tensor::Tensor input_;
  tensor::Tensor expected_;
  engine::Context context_;
  double worst_ = 0;
  int current_afterwards_ = -1;
};

void run_one_engine_on_both() {
  const graph::Graph graph = *importer::load_model("resnet18").graph;
  const auto engine = engine::build_engine(graph, find_device("cuda"), {.optimization_level = 0});
  if (current_gpu() != 0) fail_internal("building an engine moved the thread to another GPU");
  Lane first(graph, engine, 0);
  Lane second(graph, engine, 1);
  if (current_gpu() != 0) fail_internal("running an engine moved the thread to another GPU");
  std::thread beside([&] { second.run_often(0); });
  first.run_often(1);
  beside.join();
  first.check(1);
  second.check(0);
  for (const char* name : {"cuda:0", "cuda:1"}) {
    const engine::DeviceMemory memory = find_device(name).memory();
    std::printf("%s at %s: %.1f MB allocated\n", name, find_device(name).bus_id().c_str(),
                static_cast<double>(memory.allocated) / 1e6);
    if (memory.allocated <= 0) fail_internal("{} holds no weights of its own", name);
  }
}

int owner_of(const DeviceBytes& bytes) {
  cudaPointerAttributes attributes{};
  cuda::check(cudaPointerGetAttributes(&attributes, bytes.data()), "asking whose memory it is");
  return attributes.device;
}

void copy_between_both() {
  constexpr int64_t kBytes = (int64_t{1} << 20) + 24;
  std::array<CUcontext, kGpus> contexts{};
  for (int i = 0; i < kGpus; ++i) contexts[static_cast<size_t>(i)] = enter_context(i, false);
  GpuMemory memories[kGpus] = {GpuMemory(contexts[0]), GpuMemory(contexts[1])};
  std::vector<std::byte> sent(kBytes);
  for (size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(i * 7 + i / 251);
  for (int from = 0; from < kGpus; ++from) {
    const int to = 1 - from;
    const DeviceBytes source(memories[from], kBytes);
    const DeviceBytes target(memories[to], kBytes);
    if (owner_of(source) != from || owner_of(target) != to) fail_internal("memory lies on another GPU");
    copy_to_device(source, sent.data(), sent.size());
    clear(target);
    {
      const DeviceGuard guard(contexts[static_cast<size_t>(to)]);
      const Stream stream;
      cuda::check(cudaMemcpyPeerAsync(target.data(), to, source.data(), from, kBytes, stream.get()),
                  "a peer copy");
      stream.synchronize();
    }
    std::vector<std::byte> received(kBytes);
    cuda::check(cudaMemcpy(received.data(), target.data(), received.size(), cudaMemcpyDeviceToHost),
                "a copy");
    if (received != sent) fail_internal("a copy from cuda:{} to cuda:{} changed its bytes", from, to);
  }
  if (memories[0].held() != 0 || memories[1].held() != 0) fail_internal("memory was not counted as freed");
}

/// Whichever GPU is current where they are used.
void queues_stay_on_their_gpu() {
  for (const int current : {0, 1}) {
    if (cudaSetDevice(current) != cudaSuccess) fail_internal("cuda:{} cannot be made current", current);
    const engine::Device& device = find_device(current == 0 ? "cuda:1" : "cuda:0");
    const tensor::Buffer source = device.allocate(int64_t{1} << 20);
    const tensor::Buffer target = device.allocate(source.bytes);
    const std::unique_ptr<tensor::Queue> own = device.make_queue();
    const std::unique_ptr<tensor::Queue> wrapped = device.wrap_queue(nullptr);
    for (const tensor::Queue* from : {own.get(), wrapped.get()}) {
      for (const tensor::Queue* to : {own.get(), wrapped.get()}) {
        device.copy(source, target, from);
        const std::shared_ptr<const tensor::Event> copied = from->record();
        to->wait(*copied);
        copied->wait();
        to->synchronize();
      }
    }
    if (current_gpu() != current) fail_internal("a queue moved the thread to another GPU");
  }
}

/// On the GPU that is not current: views that are bound, those that are copied, and what is copied on.
void views_are_used_on_their_gpu() {
  constexpr int kCallers = 10;  // more than get bindings
  const graph::Graph graph = *importer::load_model("resnet18").graph;
  const auto engine = engine::build_engine(graph, find_device("cuda:0"), {.optimization_level = 0});
  for (const int current : {0, 1}) {
    const tensor::Place place{tensor::PlaceKind::kCuda, 1 - current};
    const engine::Device& device = device_of_fingerprint(engine->fingerprint(), place);
    const engine::Device& here = find_device(tensor::place_text({tensor::PlaceKind::kCuda, current}));
    if (cudaSetDevice(current) != cudaSuccess) fail_internal("cuda:{} cannot be made current", current);
    engine::Context context(engine, device, 1);
    const std::unique_ptr<tensor::Queue> queue = device.make_queue();
    const tensor::Tensor input = image(current);
    const tensor::Tensor expected = reference::run_graph(graph, std::vector{input})[0];
    const auto memory_for = [&](const tensor::Tensor& like, const engine::Device& where) {
      tensor::TensorView view{.dtype = like.dtype(), .shape = like.shape()};
      view.buffer = where.allocate(static_cast<int64_t>(like.byte_size()));
      return view;
    };
    const tensor::TensorView x = memory_for(input, device);
    device.copy(tensor::view_of(input).buffer, x.buffer, queue.get());
    std::vector<tensor::TensorView> outputs;
    for (int i = 0; i < kCallers; ++i) {
      const tensor::TensorView& y = outputs.emplace_back(memory_for(expected, device));
      context.run({&x, 1}, {&y, 1}, queue.get());
      const tensor::TensorView moved = memory_for(expected, here);
      device.copy(y.buffer, moved.buffer, queue.get());
      tensor::Tensor read(expected.dtype(), expected.shape());
      device.copy(moved.buffer, tensor::view_of(read).buffer, queue.get());
      queue->synchronize();
      if (!(tensor::relative_l2(read, expected) <= tolerance()))
        fail_internal("run {} on views of {} computes something else", i, tensor::place_text(place));
    }
    if (context.view_counts().copies == 0) fail_internal("no view was copied");
    if (current_gpu() != current) fail_internal("a run on views moved the thread to another GPU");
  }
}

int run() {
  if (const int status = status_without_gpu(); status != 0) return status;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count < kGpus) {
    std::printf("SKIPPED: this machine has %d GPU, one engine on two at the same time was not checked\n",
                count);
    return kSkipped;
  }
  return run_check([] {
    run_one_engine_on_both();
    copy_between_both();
    queues_stay_on_their_gpu();
    views_are_used_on_their_gpu();
  });
}

}  // namespace
}  // namespace hone::device::cuda

int main() { return hone::device::cuda::run(); }
