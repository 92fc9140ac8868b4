// Eight threads run two engines 10,000 times in all, each thread with contexts of its own, in turn by plain
// runs, bindings and loose views, at several shapes; every output is compared byte by byte with that of a run
// alone. Each engine is loaded twice, for four threads each, which meet its shapes at the same time: so they
// compile for them, and take packed weights or pack them, side by side. Built under ThreadSanitizer (the
// preset tsan) it is the proof that a loaded engine, and what several of one engine have in common, may be
// shared.
//
// usage: contexts_check [RUNS]           exit code 1 when an output differs
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "device/cpu/cpu_device.hpp"
#include "engine/builder.hpp"
#include "engine/context.hpp"
#include "support/graph_builder.hpp"

namespace hone::engine {
namespace {

using tensor::Tensor;
using tensor::TensorView;
using test::GraphBuilder;

constexpr int kThreads = 8;
constexpr int kRuns = 10'000;
constexpr int64_t kBatches = 3;
constexpr size_t kLoaded = 2;

graph::Graph images() {
  GraphBuilder b;
  const auto x = b.input("x", {graph::Dim::symbol("n"), 3, 8, 8});
  const auto y = b.node("Relu", {b.conv(x, 3, 16)});
  const auto z = b.node("Concat", {b.node("Add", {b.conv(y, 16, 16), y}), y}, {{"axis", int64_t{1}}});
  const auto flat = b.node("Flatten", {b.node("GlobalAveragePool", {z})});
  const auto logits = b.node("Gemm", {flat, b.random({10, 32}), b.random({10})}, {{"transB", int64_t{1}}});
  return b.finish({b.node("Softmax", {logits}), z});
}

/// With a result whose shape depends on data.
graph::Graph rows() {
  GraphBuilder b;
  const auto x = b.input("x", {graph::Dim::symbol("n"), 24});
  const auto y = b.node("Sigmoid", {b.node("MatMul", {x, b.random({24, 24})})});
  const auto sum = b.node("Add", {b.node("Mul", {y, x}), b.random({24})});
  return b.finish(
      {b.node("LayerNormalization", {sum, b.random({24})}), b.node("NonZero", {b.node("Relu", {x})})});
}

/// An engine that is loaded several times, and what it computes of an input of each batch.
struct Shared {
  explicit Shared(const graph::Graph& graph) {
    const Device& device = device::cpu::cpu_device();
    BuildOptions options;
    options.threads = 1;
    options.optimization_level = 0;
    const std::shared_ptr<const Engine> engine = build_engine(graph, device, options);
    for (auto& each : loaded) each = std::make_shared<LoadedEngine>(engine, device, 1);
    // A context of another loaded engine: the threads shall compile these.
    Context alone(engine, device, 1);
    for (int64_t batch = 1; batch <= kBatches; ++batch) {
      Shape shape;
      for (const graph::Dim& dim : *graph.value(graph.inputs[0]).type.dims)
        shape.push_back(dim.known() ? dim.value() : batch);
      inputs.push_back({test::random_tensor(shape, static_cast<uint32_t>(batch))});
      outputs.push_back(alone.run(inputs.back()));
    }
  }

  std::array<std::shared_ptr<LoadedEngine>, kLoaded> loaded;
  std::vector<std::vector<Tensor>> inputs;
  std::vector<std::vector<Tensor>> outputs;
};

bool same(const void* bytes, const Tensor& expected) {
  return std::memcmp(bytes, expected.bytes(), expected.byte_size()) == 0;
}

/// One thread's use of one engine.
class User {
 public:
  User(const Shared& shared, size_t loaded) : shared_(shared), context_(shared.loaded[loaded]) {
    for (size_t i = 0; i < static_cast<size_t>(kBatches); ++i) {
      bindings_.push_back(context_.bind(views_of(i), std::vector<TensorView>(shared.outputs[i].size())));
    }
  }

  /// Whether the outputs are right.
  bool run(size_t turn) {
    const size_t batch = turn % static_cast<size_t>(kBatches);
    switch (turn / static_cast<size_t>(kBatches) % 3) {
      case 0: return run_plainly(batch);
      case 1: context_.run(bindings_[batch]); return check(bindings_[batch].outputs(), batch);
      default: return run_loosely(batch);
    }
  }

 private:
  std::vector<TensorView> views_of(size_t batch) const {
    std::vector<TensorView> views;
    for (const Tensor& input : shared_.inputs[batch]) views.push_back(view_of(input));
    return views;
  }

  bool run_plainly(size_t batch) {
    const std::vector<Tensor> outputs = context_.run(shared_.inputs[batch]);
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!same(outputs[i].bytes(), shared_.outputs[batch][i])) return false;
    }
    return true;
  }

  /// Into memory that is another one each time, so that some are copied.
  bool run_loosely(size_t batch) {
    std::vector<TensorView> outputs;
    for (const Tensor& expected : shared_.outputs[batch]) {
      // Indices, whose number depends on data: the engine allocates them.
      const bool open = expected.dtype() == tensor::DType::kInt64;
      outputs.push_back(open ? TensorView() : view_of(Tensor(expected.dtype(), expected.shape())));
      outputs.back().read_only = false;
    }
    return check(context_.run(views_of(batch), outputs), batch);
  }

  bool check(const std::vector<TensorView>& outputs, size_t batch) const {
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Tensor& expected = shared_.outputs[batch][i];
      if (outputs[i].shape != expected.shape() || !same(outputs[i].data(), expected)) return false;
    }
    return true;
  }

  const Shared& shared_;
  Context context_;
  std::vector<Binding> bindings_;
};

int run(int runs) {
  const Shared first(images());
  const Shared second(rows());
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      try {
        const size_t loaded = static_cast<size_t>(thread) % kLoaded;
        User users[] = {User(first, loaded), User(second, loaded)};
        for (int i = thread; i < runs; i += kThreads) {
          const auto turn = static_cast<size_t>(i / kThreads);
          wrong += users[turn % 2].run(turn / 2) ? 0 : 1;
        }
      } catch (const std::exception& error) {
        fmt::print(stderr, "thread {}: {}\n", thread, error.what());
        ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  fmt::print("{} runs of 2 engines in {} threads, {} with wrong outputs\n", runs, kThreads, wrong.load());
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace hone::engine

int main(int count, char** arguments) {
  return hone::engine::run(count > 1 ? std::atoi(arguments[1]) : hone::engine::kRuns);
}
