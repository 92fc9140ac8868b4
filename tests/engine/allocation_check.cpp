// A run of a binding allocates nothing by kernels of hone: the program counts its calls of operator new while
// bindings run. Allocations of oneDNN and its C++ interface in each of their calls are printed.
//
// Exit code 1 when a run of hone's own kernels allocates.
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "device/cpu/cpu_device.hpp"
#include "engine/builder.hpp"
#include "engine/context.hpp"
#include "support/graph_builder.hpp"

namespace {
std::atomic<int64_t> allocations = 0;
}  // namespace

// Inlined, they look to the compiler like free() of what new gave.
__attribute__((noinline)) void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
__attribute__((noinline)) void operator delete(void* memory) noexcept { std::free(memory); }
__attribute__((noinline)) void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace hone::engine {
namespace {

using test::GraphBuilder;

constexpr int kRuns = 100;

graph::Graph rows() {
  GraphBuilder b;
  const auto x = b.input("x", {2, 24});
  const auto y = b.node("Sigmoid", {b.node("Add", {b.node("Mul", {x, x}), b.random({24})})});
  return b.finish({b.node("Concat", {y, x}, {{"axis", int64_t{1}}}), b.node("Relu", {y})});
}

/// Operators that need memory of their own while they run.
graph::Graph reductions() {
  GraphBuilder b;
  const auto x = b.input("x", {1, 40000});
  const auto y = b.node("Reshape", {x, b.ints({10, 50, 80})});
  std::vector<graph::ValueId> outputs = b.nodes("TopK", {y, b.ints({3})}, 2, {{"axis", int64_t{1}}});
  for (const graph::ValueId id : b.nodes("DynamicQuantizeLinear", {x}, 3)) outputs.push_back(id);
  outputs.push_back(b.node("ReduceSum", {x}));
  outputs.push_back(b.node("LpNormalization", {y}, {{"axis", int64_t{1}}}));
  outputs.push_back(b.node("Tile", {y, b.ints({2, 1, 2})}));
  return b.finish(outputs);
}

/// Operators on rows, which no reorder brings into another layout.
graph::Graph groups() {
  GraphBuilder b;
  const auto x = b.input("x", {1, 8, 64});
  return b.finish(
      {b.node("GroupNormalization", {x, b.random({8}), b.random({8})}, {{"num_groups", int64_t{2}}})});
}

graph::Graph images() {
  GraphBuilder b;
  const auto x = b.input("x", {1, 3, 8, 8});
  const auto y = b.node("Relu", {b.conv(x, 3, 16)});
  return b.finish({b.node("Softmax", {b.node("Flatten", {b.node("GlobalAveragePool", {y})})})});
}

/// Allocations of one run, after a first one.
double allocations_of(const graph::Graph& graph) {
  const Device& device = device::cpu::cpu_device();
  BuildOptions options;
  options.threads = 1;
  options.optimization_level = 0;
  Context context(build_engine(graph, device, options), device, 1);
  Shape shape;
  for (const graph::Dim& dim : *graph.value(graph.inputs[0]).type.dims) shape.push_back(dim.value());
  const tensor::TensorView input = view_of(test::random_tensor(shape, 1));
  Binding binding = context.bind({&input, 1}, std::vector<tensor::TensorView>(graph.outputs.size()));
  context.run(binding);
  const int64_t before = allocations;
  for (int run = 0; run < kRuns; ++run) context.run(binding);
  return static_cast<double>(allocations - before) / kRuns;
}

int run() {
  double own = 0;
  const std::pair<const char*, graph::Graph (*)()> graphs[] = {
      {"rows", rows}, {"reductions", reductions}, {"groups", groups}};
  for (const auto& [name, make] : graphs) {
    const double each = allocations_of(make());
    if (each > 0) fmt::print("{}: {} allocations a run\n", name, each);
    own += each;
  }
  const double with_library = allocations_of(images());
  fmt::print("{} allocations a run by kernels of hone, {} where oneDNN runs some steps\n", own, with_library);
  return own == 0 ? 0 : 1;
}

}  // namespace
}  // namespace hone::engine

int main() { return hone::engine::run(); }
