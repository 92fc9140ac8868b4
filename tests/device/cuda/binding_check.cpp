// Bindings on a GPU: eight threads that share a loaded engine compute what one computes alone, on the
// callers' memory and streams; runs follow each other across streams, are captured in graphs of others or
// refused, cost no memory, and owners are released when their work is done.
#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <thread>

#include "base/error.hpp"
#include "device/devices.hpp"
#include "engine/builder.hpp"
#include "engine/context.hpp"
#include "gpu_or_skip.hpp"
#include "import/load.hpp"
#include "support/graph_builder.hpp"
#include "tensor/metrics.hpp"

namespace hone::device::cuda {
namespace {

using engine::Binding;
using engine::Context;
using engine::LoadedEngine;
using engine::Shape;
using tensor::DType;
using tensor::Tensor;
using tensor::TensorView;
using test::GraphBuilder;

constexpr int kThreads = 8;
constexpr int kRuns = 200;

#define REQUIRE(condition)                                                        \
  do {                                                                            \
    if (!(condition)) fail_internal("{}:{}: {}", __FILE__, __LINE__, #condition); \
  } while (false)

const engine::Device& gpu() { return find_device("cuda"); }

void check(cudaError_t status) {
  if (status != cudaSuccess) fail_internal("CUDA: {}", cudaGetErrorString(status));
}

std::shared_ptr<LoadedEngine> load(const graph::Graph& graph, tensor::Precision precision) {
  engine::BuildOptions options;
  options.precision = precision;
  options.optimization_level = 0;
  return std::make_shared<LoadedEngine>(engine::build_engine(graph, gpu(), options), gpu(), 1);
}

/// Memory of the GPU for a tensor.
TensorView memory_for(DType dtype, const Shape& shape) {
  TensorView view{.dtype = dtype, .shape = shape};
  const Tensor host(dtype, shape);
  view.buffer = gpu().allocate(static_cast<int64_t>(host.byte_size()));
  return view;
}

void write(const TensorView& view, const Tensor& host) {
  check(cudaMemcpy(view.data(), host.bytes(), host.byte_size(), cudaMemcpyHostToDevice));
  // From pageable memory the call returns once the bytes are staged.
  check(cudaStreamSynchronize(nullptr));
}

TensorView on_gpu(const Tensor& host) {
  TensorView view = memory_for(host.dtype(), host.shape());
  write(view, host);
  return view;
}

Tensor content(const TensorView& view) {
  Tensor host(view.dtype, view.shape);
  check(cudaMemcpy(host.mutable_bytes(), view.data(), host.byte_size(), cudaMemcpyDefault));
  return host;
}

bool same(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(a.bytes(), b.bytes(), a.byte_size()) == 0;
}

/// As a tactic search compares networks of fp16 that differ in their tactics.
bool close(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && tensor::relative_l2(a, b) <= 0.02;
}

std::string refusal_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// A stream that somebody else made.
class ForeignStream {
 public:
  ForeignStream() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    queue_ = gpu().wrap_queue(stream_);
  }
  ~ForeignStream() { (void)cudaStreamDestroy(stream_); }
  ForeignStream(const ForeignStream&) = delete;
  ForeignStream& operator=(const ForeignStream&) = delete;
  cudaStream_t get() const { return stream_; }
  const tensor::Queue* queue() const { return queue_.get(); }

 private:
  cudaStream_t stream_ = nullptr;
  std::unique_ptr<tensor::Queue> queue_;
};

void eight_threads_share_an_engine() {
  const auto loaded = load(*importer::load_model("resnet18").graph, tensor::Precision::kFp16);
  std::vector<std::vector<Tensor>> inputs;
  std::vector<std::vector<Tensor>> expected;
  {
    Context alone(loaded);
    for (int i = 0; i < kThreads; ++i) {
      inputs.push_back({test::random_tensor({1 + i % 2, 3, 224, 224}, static_cast<uint32_t>(i))});
      expected.push_back(alone.run(inputs.back()));
    }
  }
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      try {
        Context context(loaded);
        const ForeignStream stream;
        const std::vector<TensorView> views = {on_gpu(inputs[i][0])};
        Binding binding = context.bind(views, std::vector<TensorView>(1));
        for (int run = 0; run < kRuns; ++run) {
          context.run(binding, stream.queue());
          if (run % 10 != 0) continue;
          check(cudaStreamSynchronize(stream.get()));
          wrong += same(content(binding.outputs()[0]), expected[i][0]) ? 0 : 1;
          wrong += same(context.run(inputs[i])[0], expected[i][0]) ? 0 : 1;
        }
        check(cudaStreamSynchronize(stream.get()));
      } catch (const std::exception& error) {
        std::printf("thread %zu: %s\n", i, error.what());
        ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%d threads, %d runs each: %d wrong outputs\n", kThreads, kRuns, wrong.load());
  REQUIRE(wrong == 0);
}

void runs_cost_no_memory_and_follow_each_other() {
  const graph::Graph graph = *importer::load_model("resnet18").graph;
  Context context(load(graph, tensor::Precision::kFp16));
  const Tensor image = test::random_tensor({1, 3, 224, 224}, 1);
  const Tensor expected = context.run(std::vector{image})[0];
  const ForeignStream one;
  const ForeignStream two;
  Binding first = context.bind(std::vector{on_gpu(image)}, std::vector<TensorView>(1));
  Binding second = context.bind(std::vector{on_gpu(image)}, std::vector<TensorView>(1));
  const int64_t held = gpu().memory().allocated;
  for (int run = 0; run < kRuns; ++run) {
    context.run(first, one.queue());
    context.run(second, two.queue());
  }
  check(cudaDeviceSynchronize());
  REQUIRE(gpu().memory().allocated == held);
  REQUIRE(same(content(first.outputs()[0]), expected));
  REQUIRE(same(content(second.outputs()[0]), expected));
}

void strides_are_read_or_reordered() {
  const graph::Graph graph = *importer::load_model("resnet18").graph;
  const auto loaded = load(graph, tensor::Precision::kFp16);
  Context context(loaded);
  const Tensor image = test::random_tensor({1, 3, 224, 224}, 1);
  const Tensor expected = context.run(std::vector{image})[0];
  const auto bound = [&](const Shape& strides, int64_t elements) {
    Tensor host(DType::kFloat32, {elements});
    const auto from = image.values<float>();
    for (int64_t c = 0; c < 3; ++c) {
      for (int64_t h = 0; h < 224; ++h) {
        for (int64_t w = 0; w < 224; ++w)
          host.mutable_values<float>()[static_cast<size_t>(c * strides[1] + h * strides[2] +
                                                           w * strides[3])] =
              from[static_cast<size_t>((c * 224 + h) * 224 + w)];
      }
    }
    TensorView view = on_gpu(host);
    view.shape = image.shape();
    view.strides = strides;
    return context.bind(std::vector{view}, std::vector<TensorView>(1));
  };
  Binding last = bound({3 * 224 * 224, 1, 3 * 224, 3}, 3 * 224 * 224);
  REQUIRE(last.reordered_inputs() == 0);
  context.run(last);
  REQUIRE(close(content(last.outputs()[0]), expected));  // the first steps may run by other tactics
  Binding padded = bound({3 * 224 * 230, 224 * 230, 230, 1}, 3 * 224 * 230);
  REQUIRE(padded.reordered_inputs() == 1);
  context.run(padded);
  REQUIRE(same(content(padded.outputs()[0]), expected));
}

void runs_are_captured_by_others() {
  const graph::Graph graph = *importer::load_model("resnet18").graph;
  Context context(load(graph, tensor::Precision::kFp16));
  const Tensor image = test::random_tensor({1, 3, 224, 224}, 1);
  const Tensor expected = context.run(std::vector{image})[0];
  const ForeignStream stream;
  Binding binding = context.bind(std::vector{on_gpu(image)}, std::vector<TensorView>(1));
  cudaGraph_t captured = nullptr;
  check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
  context.run(binding, stream.queue());
  check(cudaStreamEndCapture(stream.get(), &captured));
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, captured, 0));
  check(cudaMemset(binding.outputs()[0].data(), 0, static_cast<size_t>(binding.outputs()[0].buffer.bytes)));
  check(cudaDeviceSynchronize());
  check(cudaGraphLaunch(executable, stream.get()));
  check(cudaStreamSynchronize(stream.get()));
  REQUIRE(same(content(binding.outputs()[0]), expected));
  check(cudaGraphExecDestroy(executable));
  check(cudaGraphDestroy(captured));

  GraphBuilder b;
  const auto x = b.input("x", {2, 3});
  Context host(load(b.finish({b.node("Exp", {x}), b.node("NonZero", {x})}), tensor::Precision::kFp32));
  Binding refused =
      host.bind(std::vector{on_gpu(test::random_tensor({2, 3}, 1))}, std::vector<TensorView>(2));
  host.run(refused, stream.queue());
  check(cudaStreamSynchronize(stream.get()));
  REQUIRE(refused.outputs()[1].shape == (Shape{2, 6}));
  check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
  const std::string refusal = refusal_of([&] { host.run(refused, stream.queue()); });
  (void)cudaStreamEndCapture(stream.get(), &captured);
  std::printf("%s\n", refusal.c_str());
  REQUIRE(refusal.starts_with("a run cannot be captured in a CUDA graph where the host computes "));
}

/// The second run is the first one whose steps around that of the host are CUDA graphs.
void steps_around_one_of_the_host_are_captured() {
  GraphBuilder b;
  const auto softmax = [&](auto value) { return b.node("Softmax", {b.node("Cos", {value})}); };
  const auto lengths = b.constant(Tensor::of<int64_t>({3, 1, 2, 4}, {4}));
  const auto reversed = b.node("ReverseSequence", {softmax(b.input("x", {5, 4, 32})), lengths},
                               {{"time_axis", int64_t{0}}, {"batch_axis", int64_t{1}}});
  Context context(load(b.finish({softmax(reversed)}), tensor::Precision::kFp32));
  std::vector<Tensor> inputs;
  std::vector<Tensor> first;
  for (unsigned seed : {1, 2}) inputs.push_back(test::random_tensor({5, 4, 32}, seed));
  Binding binding = context.bind(std::vector{on_gpu(inputs[0])}, std::vector<TensorView>(1));
  const ForeignStream stream;
  for (int i = 0; i < 6; ++i) {
    const Tensor result = context.run(std::vector{inputs[static_cast<size_t>(i % 2)]})[0];
    if (i < 2) first.push_back(result);
    REQUIRE(same(result, first[static_cast<size_t>(i % 2)]));
    context.run(binding, stream.queue());
    check(cudaStreamSynchronize(stream.get()));
    REQUIRE(same(content(binding.outputs()[0]), first[0]));
  }
  REQUIRE(!same(first[0], first[1]));
}

void a_cache_is_changed_in_place() {
  GraphBuilder b;
  const auto cache = b.input("cache", {3, 4});
  const auto where = b.input("where", {1, 1}, DType::kInt64);
  const auto row = b.input("row", {1, 4});
  const auto updated = b.node("ScatterND", {cache, where, row});
  const graph::Graph graph = b.finish({updated, b.node("ReduceSum", {updated})});
  Context context(load(graph, tensor::Precision::kFp32));
  const std::vector<TensorView> inputs = {on_gpu(Tensor::of<float>(std::vector<float>(12, 0), {3, 4})),
                                          on_gpu(Tensor::of<int64_t>({0}, {1, 1})),
                                          on_gpu(Tensor::of<float>({0, 0, 0, 0}, {1, 4}))};
  const std::vector<TensorView> outputs = {inputs[0], {}};
  REQUIRE(!refusal_of([&] { context.bind(inputs, outputs); }).empty());
  Binding binding = context.bind(inputs, outputs, {.aliases = {{.output = 0, .input = 0}}});
  for (int64_t i = 0; i < 3; ++i) {
    write(inputs[1], Tensor::of<int64_t>({i}, {1, 1}));
    write(inputs[2], Tensor::of<float>(std::vector<float>(4, static_cast<float>(i + 1)), {1, 4}));
    check(cudaDeviceSynchronize());
    context.run(binding);
  }
  REQUIRE(content(inputs[0]).to_double() == (std::vector<double>{1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}));
  REQUIRE(content(binding.outputs()[1]).to_double() == std::vector<double>{24});
}

void loose_views_are_bound_or_copied() {
  const graph::Graph graph = *importer::load_model("resnet18").graph;
  Context context(load(graph, tensor::Precision::kFp16));
  const Tensor image = test::random_tensor({1, 3, 224, 224}, 1);
  const Tensor expected = context.run(std::vector{image})[0];
  const std::vector<TensorView> inputs = {on_gpu(image)};
  std::vector<TensorView> kept;
  for (int i = 0; i < 10; ++i) {
    const TensorView& output = kept.emplace_back(memory_for(expected.dtype(), expected.shape()));
    context.run(inputs, {&output, 1});
    REQUIRE(same(content(output), expected));
  }
  REQUIRE(context.view_counts().bindings == 8);
  REQUIRE(context.view_counts().copies == 4);
}

void owners_are_released_after_their_work() {
  GraphBuilder b;
  Context context(load(b.finish({b.node("Exp", {b.input("x", {1024})})}), tensor::Precision::kFp32));
  const ForeignStream stream;
  std::atomic<bool> passed = false;
  std::atomic<bool> early = false;
  {
    TensorView view = on_gpu(test::random_tensor({1024}, 1));
    view.buffer.owner = std::shared_ptr<const void>(
        view.data(), [&, kept = view.buffer.owner](const void*) { early = early || !passed; });
    Binding binding = context.bind(std::vector{view}, std::vector<TensorView>(1));
    view.buffer.owner = nullptr;
    check(cudaLaunchHostFunc(
        stream.get(),
        [](void* flag) {
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          *static_cast<std::atomic<bool>*>(flag) = true;
        },
        &passed));
    context.run(binding, stream.queue());
  }
  REQUIRE(passed && !early);
}

int run() {
  if (const int status = status_without_gpu(); status != 0) return status;
  return run_check([] {
    eight_threads_share_an_engine();
    runs_cost_no_memory_and_follow_each_other();
    strides_are_read_or_reordered();
    runs_are_captured_by_others();
    steps_around_one_of_the_host_are_captured();
    a_cache_is_changed_in_place();
    loose_views_are_bound_or_copied();
    owners_are_released_after_their_work();
  });
}

}  // namespace
}  // namespace hone::device::cuda

int main() { return hone::device::cuda::run(); }
