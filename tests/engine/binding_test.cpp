// Bindings: runs on a caller's memory compute what other runs compute, views that cannot be bound are refused
// in a sentence, and loose views find their bindings again or are copied, which is counted.
#include "engine/binding.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "device/cpu/cpu_device.hpp"
#include "engine/builder.hpp"
#include "engine/context.hpp"
#include "support/equivalence.hpp"
#include "support/usage_error.hpp"

namespace hone::engine {
namespace {

using graph::Dim;
using tensor::DType;
using tensor::Tensor;
using tensor::TensorView;
using test::GraphBuilder;
using test::usage_error;

const Device& device() { return device::cpu::cpu_device(); }

std::shared_ptr<Engine> build(const graph::Graph& graph) {
  BuildOptions options;
  options.threads = 1;
  options.optimization_level = 0;
  return build_engine(graph, device(), options);
}

/// Memory of a caller for a tensor of this type and shape.
TensorView memory_for(DType dtype, const Shape& shape) {
  TensorView view = view_of(Tensor(dtype, shape));
  view.read_only = false;
  return view;
}

std::vector<TensorView> views_of(const std::vector<Tensor>& tensors) {
  std::vector<TensorView> views;
  for (const Tensor& tensor : tensors) views.push_back(view_of(tensor));
  return views;
}

std::vector<TensorView> memory_like(const std::vector<Tensor>& tensors) {
  std::vector<TensorView> views;
  for (const Tensor& tensor : tensors) views.push_back(memory_for(tensor.dtype(), tensor.shape()));
  return views;
}

/// The contents of the view, row-major.
Tensor content(const TensorView& view) {
  return Tensor(view.dtype, view.shape, view.data(), nullptr).clone();
}

void write(const TensorView& view, const Tensor& tensor) {
  std::memcpy(view.data(), tensor.bytes(), tensor.byte_size());
}

graph::Graph image_network() {
  GraphBuilder b;
  const auto x = b.input("x", {Dim::symbol("n"), 3, 8, 8});
  const auto y = b.node("Relu", {b.conv(x, 3, 16)});
  const auto sum = b.node("Add", {b.conv(y, 16, 16), y});
  return b.finish({sum, b.node("Flatten", {b.node("GlobalAveragePool", {sum})})});
}

TEST(Binding, RunsOnTheMemoryThatIsBound) {
  const graph::Graph graph = image_network();
  Context context(build(graph), device(), 1);
  const auto first = test::random_inputs(graph, 1, 2);
  const auto inputs = memory_like(first);
  const auto outputs = memory_like(context.run(first));
  Binding binding = context.bind(inputs, outputs);
  EXPECT_EQ(binding.reordered_inputs(), 0U);
  for (const uint32_t seed : {5U, 6U, 7U}) {
    const auto values = test::random_inputs(graph, seed, 2);
    write(inputs[0], values[0]);
    context.run(binding);
    const auto expected = context.run(values);
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(content(outputs[i]).to_double(), expected[i].to_double());
  }
}

TEST(Binding, AllocatesOutputsThatAreNotGiven) {
  const graph::Graph graph = image_network();
  Context context(build(graph), device(), 1);
  const auto values = test::random_inputs(graph, 1, 1);
  Binding binding = context.bind(views_of(values), std::vector<TensorView>(2));
  context.run(binding);
  const auto expected = context.run(values);
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(content(binding.outputs()[i]).to_double(), expected[i].to_double());
}

TEST(Binding, OutlivesItsContextAndKeepsWhatTheViewsOwn) {
  const graph::Graph graph = image_network();
  auto context = std::make_unique<Context>(build(graph), device(), 1);
  const auto values = test::random_inputs(graph, 1, 1);
  const auto expected = context->run(values);
  std::weak_ptr<const void> owner;
  {
    const auto bound = [&] {
      const auto inputs = views_of(values);
      owner = inputs[0].buffer.owner;
      return context->bind(inputs, std::vector<TensorView>(2));
    };
    Binding binding = bound();
    context.reset();
    EXPECT_FALSE(owner.expired());
    binding.run(nullptr);
    EXPECT_EQ(content(binding.outputs()[1]).to_double(), expected[1].to_double());
  }
  EXPECT_TRUE(owner.expired());
}

TEST(Binding, OutputsWhoseShapeDependsOnDataAreAllocated) {
  GraphBuilder b;
  const auto x = b.input("x", {Dim::symbol("n"), 4});
  const graph::Graph graph = b.finish({b.node("NonZero", {b.node("Relu", {x})}), b.node("Exp", {x})});
  Context context(build(graph), device(), 1);
  const auto inputs = memory_like(test::random_inputs(graph, 1, 3));
  Binding binding = context.bind(inputs, std::vector<TensorView>(2));
  EXPECT_FALSE(binding.outputs()[0].defined());
  for (const uint32_t seed : {1U, 2U}) {
    const auto values = test::random_inputs(graph, seed, 3);
    write(inputs[0], values[0]);
    context.run(binding);
    const auto expected = reference::run_graph(graph, values);
    ASSERT_EQ(binding.outputs()[0].shape, expected[0].shape());
    EXPECT_EQ(content(binding.outputs()[0]).to_int64(), expected[0].to_int64());
  }
  const std::vector<TensorView> given = {memory_for(DType::kInt64, {2, 5}), {}};
  EXPECT_EQ(usage_error([&] { context.bind(inputs, given); }),
            "the shape of output '" + graph.value(graph.outputs[0]).name +
                "' depends on data, so the engine allocates it: bind no memory to it");
}

TEST(Binding, BatchesThatRunInGroupsAreBoundWhole) {
  const graph::Graph graph = image_network();
  const auto engine = build(graph);
  engine->micro_batch = 3;
  Context context(engine, device(), 1);
  const auto values = test::random_inputs(graph, 4, 7);
  const auto expected = context.run(values);
  Binding binding = context.bind(views_of(values), std::vector<TensorView>(2));
  context.run(binding);
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(content(binding.outputs()[i]).to_double(), expected[i].to_double());
}

/// The same elements in memory of other strides, of one dtype: float32.
TensorView strided(const Tensor& tensor, const Shape& strides) {
  int64_t last = 0;
  for (size_t d = 0; d < strides.size(); ++d) last += strides[d] * (tensor.shape()[d] - 1);
  TensorView view = memory_for(DType::kFloat32, {last + 1});
  auto* to = reinterpret_cast<float*>(view.data());
  const auto from = tensor.values<float>();
  Shape index(strides.size(), 0);
  for (const float element : from) {
    int64_t at = 0;
    for (size_t d = 0; d < strides.size(); ++d) at += index[d] * strides[d];
    to[at] = element;
    for (size_t d = strides.size(); d-- > 0 && ++index[d] == tensor.shape()[d];) index[d] = 0;
  }
  view.shape = tensor.shape();
  view.strides = strides;
  view.read_only = true;
  return view;
}

TEST(Binding, InputsInALayoutOfTheEngineAreReadAsTheyLie) {
  const graph::Graph graph = image_network();
  Context context(build(graph), device(), 1);
  const auto values = test::random_inputs(graph, 1, 2);
  const std::vector<TensorView> inputs = {strided(values[0], {3 * 64, 1, 3 * 8, 3})};
  Binding binding = context.bind(inputs, std::vector<TensorView>(2));
  EXPECT_EQ(binding.reordered_inputs(), 0U);
  context.run(binding);
  const auto expected = reference::run_graph(graph, values);
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_LE(test::relative_error(content(binding.outputs()[i]), expected[i]),
              test::rounding_tolerance(graph));
}

TEST(Binding, OtherStridesAreReordered) {
  const graph::Graph graph = image_network();
  Context context(build(graph), device(), 1);
  const auto values = test::random_inputs(graph, 1, 2);
  const auto expected = context.run(values);
  // Rows of 11 elements; images turned by 90 degrees; and one image of which all are.
  for (const Shape& strides : {Shape{3 * 88, 88, 11, 1}, {192, 64, 1, 8}}) {
    const std::vector<TensorView> inputs = {strided(values[0], strides)};
    Binding binding = context.bind(inputs, std::vector<TensorView>(2));
    EXPECT_EQ(binding.reordered_inputs(), 1U);
    context.run(binding);
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(content(binding.outputs()[i]).to_double(), expected[i].to_double());
  }
}

TEST(Binding, MemoryThatCannotBeUsedIsRefused) {
  GraphBuilder b;
  const graph::Graph graph = b.finish({b.node("Relu", {b.input("x", {2, 4})})});
  const std::string y = graph.value(graph.outputs[0]).name;
  Context context(build(graph), device(), 1);
  const TensorView x = memory_for(DType::kFloat32, {2, 4});
  const auto refusal = [&](const TensorView& input, const TensorView& output) {
    return usage_error([&] { context.bind({&input, 1}, {&output, 1}); });
  };
  TensorView bad = x;
  bad.buffer.place = {tensor::PlaceKind::kCuda, 1};
  EXPECT_EQ(refusal(bad, {}), "input 'x' is on cuda:1, the engine runs on cpu: copy it there");
  EXPECT_EQ(refusal(x, bad), "output '" + y + "' is on cuda:1, the engine runs on cpu: copy it there");
  bad = x;
  bad.strides = {-4, 1};
  EXPECT_EQ(refusal(bad, {}), "input 'x' has a negative stride (-4)");
  bad.strides = {1};
  EXPECT_EQ(refusal(bad, {}), "input 'x' has 1 strides for 2 dimensions");
  bad.strides = {5, 1};
  EXPECT_EQ(refusal(bad, {}), "input 'x' takes 36 bytes of a buffer of 32");
  bad.strides = {int64_t{1} << 62, 1};
  EXPECT_EQ(refusal(bad, {}), "input 'x' of shape 2x4 is larger than any memory");
  EXPECT_EQ(refusal(x, memory_for(DType::kFloat32, {4, 2})),
            "output '" + y + "' is float32[2x4], float32[4x2] is bound to it");
  EXPECT_EQ(refusal(x, memory_for(DType::kFloat64, {2, 4})),
            "output '" + y + "' is float32[2x4], float64[2x4] is bound to it");
  bad = memory_for(DType::kFloat32, {2, 4});
  bad.read_only = true;
  EXPECT_EQ(refusal(x, bad), "output '" + y + "' is bound to memory that is read-only");
  bad = memory_for(DType::kFloat32, {4, 2});
  bad.shape = {2, 4};
  bad.strides = {1, 2};
  EXPECT_EQ(refusal(x, bad), "output '" + y + "' is bound to memory of strides [1, 2]: it must be row-major");
  EXPECT_EQ(usage_error([&] { context.bind({&x, 1}, {}); }), "0 outputs are bound, the model has 1");
}

TEST(Binding, AnOutputInTheMemoryOfAnInputIsDeclared) {
  GraphBuilder b;
  const auto cache = b.input("cache", {3, 4});
  const auto row = b.input("row", {1, 4});
  const auto where = b.input("where", {1, 1}, DType::kInt64);
  const auto updated = b.node("ScatterND", {cache, where, row});
  const graph::Graph graph = b.finish({updated, b.node("ReduceSum", {updated})});
  const std::string name = graph.value(graph.outputs[0]).name;
  Context context(build(graph), device(), 1);
  const std::vector<TensorView> inputs = {memory_for(DType::kFloat32, {3, 4}),
                                          memory_for(DType::kFloat32, {1, 4}),
                                          memory_for(DType::kInt64, {1, 1})};
  const std::vector<TensorView> outputs = {inputs[0], {}};
  EXPECT_EQ(usage_error([&] { context.bind(inputs, outputs); }),
            "output '" + name + "' lies in the memory of input 'cache', which was not declared");
  Binding binding = context.bind(inputs, outputs, {.aliases = {{.output = 0, .input = 0}}});
  write(inputs[0], Tensor::of<float>(std::vector<float>(12, 0), {3, 4}));
  for (int64_t i = 0; i < 3; ++i) {
    write(inputs[1], Tensor::of<float>(std::vector<float>(4, static_cast<float>(i + 1)), {1, 4}));
    write(inputs[2], Tensor::of<int64_t>({i}, {1, 1}));
    context.run(binding);
  }
  EXPECT_EQ(content(inputs[0]).to_double(), (std::vector<double>{1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}));
  EXPECT_EQ(content(binding.outputs()[1]).to_double(), std::vector<double>{24});

  EXPECT_NE(usage_error([&] {
              context.bind(inputs, std::vector<TensorView>(2), {.aliases = {{0, 0}}});
            }),
            "");
  EXPECT_NE(usage_error([&] { context.bind(inputs, outputs, {.aliases = {{2, 0}}}); }), "");
}

TEST(Binding, AnAliasThatAStepForbidsIsRefused) {
  GraphBuilder b;
  const auto x = b.input("x", {4, 4});
  const auto y = b.node("Softmax", {x});
  const graph::Graph graph = b.finish({y, b.node("MatMul", {y, x})});
  Context context(build(graph), device(), 1);
  const TensorView memory = memory_for(DType::kFloat32, {4, 4});
  const std::vector<TensorView> outputs = {memory, {}};
  const std::string refusal = usage_error([&] {
    context.bind({&memory, 1}, outputs, {.aliases = {{.output = 0, .input = 0}}});
  });
  EXPECT_NE(refusal.find("reads the input after the output is written"), std::string::npos) << refusal;
}

TEST(LooseViews, TheFirstOnesAreBoundAndTheOthersCopied) {
  constexpr int kBound = 8;
  const graph::Graph graph = image_network();
  Context context(build(graph), device(), 1);
  const auto values = test::random_inputs(graph, 1, 2);
  const auto expected = context.run(values);
  std::vector<std::vector<TensorView>> outputs;
  for (int i = 0; i < kBound + 2; ++i) outputs.push_back(memory_like(expected));
  const auto inputs = views_of(values);
  for (int round = 0; round < 2; ++round) {
    for (const auto& each : outputs) {
      write(each[1], Tensor(expected[1].dtype(), expected[1].shape()));
      context.run(inputs, each);
      EXPECT_EQ(content(each[1]).to_double(), expected[1].to_double());
    }
  }
  const ViewCounts& counts = context.view_counts();
  EXPECT_EQ(counts.bindings, kBound);
  EXPECT_EQ(counts.copies, 2 * 2 * 3) << "an input and two outputs, of two callers, twice";
  const auto bytes = values[0].byte_size() + expected[0].byte_size() + expected[1].byte_size();
  EXPECT_EQ(counts.copied_bytes, static_cast<int64_t>(2 * 2 * bytes));
}

TEST(LooseViews, StridedOnesAreCopiedRight) {
  const graph::Graph graph = image_network();
  Context context(build(graph), device(), 1);
  const auto values = test::random_inputs(graph, 1, 2);
  const auto expected = context.run(values);
  const std::vector<TensorView> inputs = {strided(values[0], {192, 64, 1, 8})};
  std::vector<std::vector<TensorView>> kept;
  for (int i = 0; i < 10; ++i) {
    const auto& outputs = kept.emplace_back(memory_like(expected));
    context.run(inputs, outputs);
    for (size_t k = 0; k < expected.size(); ++k)
      EXPECT_EQ(content(outputs[k]).to_double(), expected[k].to_double());
  }
  EXPECT_GT(context.view_counts().copies, 0);
}

/// A queue of the host whose work passes when the test says so.
class HeldQueue final : public tensor::Queue {
 public:
  class Moment final : public tensor::Event {
   public:
    explicit Moment(const bool& passed) : passed_(passed) {}
    void wait() const override { EXPECT_TRUE(passed_) << "the test would hang here"; }
    bool has_passed() const override { return passed_; }

   private:
    const bool& passed_;
  };

  tensor::Place place() const override { return {}; }
  void synchronize() const override {}
  std::shared_ptr<const tensor::Event> record() const override { return std::make_shared<Moment>(passed); }
  void wait(const tensor::Event&) const override {}
  bool is_capturing() const override { return captures; }

  bool passed = false;
  bool captures = false;
};

TEST(LooseViews, KeepTheirMemoryUntilTheQueueHasPassed) {
  constexpr int kCallers = 12;  // some of them are bound, the others copied
  GraphBuilder b;
  const graph::Graph graph = b.finish({b.node("Relu", {b.input("x", {4})})});
  HeldQueue queue;
  Context context(build(graph), device(), 1);
  std::vector<std::weak_ptr<const void>> owners;
  const auto alive = [&] {
    return std::ranges::count_if(owners, [](const auto& owner) { return !owner.expired(); });
  };
  std::vector<Tensor> memory;  // so that no caller gets that of another
  for (int i = 0; i < kCallers; ++i) {
    for (int k = 0; k < 2; ++k) memory.emplace_back(DType::kFloat32, Shape{4});
    std::vector<TensorView> views = {view_of(memory[memory.size() - 2]), view_of(memory.back())};
    views[1].read_only = false;
    for (TensorView& view : views) {
      view.buffer.owner = std::make_shared<int>(i);
      owners.push_back(view.buffer.owner);
    }
    context.run({views.data(), 1}, {&views[1], 1}, &queue);
  }
  EXPECT_EQ(alive(), 2 * kCallers);
  queue.passed = true;
  const TensorView x = memory_for(DType::kFloat32, {4});
  const TensorView y = memory_for(DType::kFloat32, {4});
  context.run({&x, 1}, {&y, 1}, &queue);
  EXPECT_LE(alive(), 1) << "the last run's outputs are valid until the next one";
}

TEST(LooseViews, AreNotBoundInsideACapture) {
  GraphBuilder b;
  const graph::Graph graph = b.finish({b.node("Relu", {b.input("x", {4})})});
  HeldQueue queue;
  queue.passed = true;
  Context context(build(graph), device(), 1);
  const TensorView x = memory_for(DType::kFloat32, {4});
  const TensorView y = memory_for(DType::kFloat32, {4});
  queue.captures = true;
  const auto run = [&] { context.run({&x, 1}, {&y, 1}, &queue); };
  EXPECT_EQ(usage_error(run),
            "a run on views that this context has not bound cannot be captured in a CUDA graph: bind them, "
            "and run the binding");
  queue.captures = false;
  run();
  queue.captures = true;
  run();
  EXPECT_EQ(context.view_counts().bindings, 1);
}

TEST(LooseViews, AreRefusedAsBoundOnesAre) {
  GraphBuilder b;
  const graph::Graph graph = b.finish({b.node("Relu", {b.input("x", {4})})});
  const std::string y = graph.value(graph.outputs[0]).name;
  Context context(build(graph), device(), 1);
  std::vector<TensorView> kept;
  for (int i = 0; i < 10; ++i) {
    const TensorView& x = kept.emplace_back(memory_for(DType::kFloat32, {4}));
    EXPECT_EQ(usage_error([&] {
                context.run({&x, 1}, {&x, 1});
              }),
              "output '" + y + "' lies in the memory of input 'x', which was not declared");
    const TensorView none;
    EXPECT_EQ(usage_error([&] {
                context.run({&x, 1}, {&none, 1});
              }),
              "output '" + y + "' is given no memory: only a binding has it allocated");
    const TensorView out = memory_for(DType::kFloat32, {4});
    context.run({&x, 1}, {&out, 1});
    kept.push_back(out);
  }
}

}  // namespace
}  // namespace hone::engine
