// Loaded engines: contexts of one compile and pack once, whatever threads they run in, and leave the engine
// as it is.
#include "engine/loaded_engine.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <future>
#include <thread>

#include "device/cpu/cpu_device.hpp"
#include "engine/builder.hpp"
#include "engine/context.hpp"
#include "support/equivalence.hpp"

namespace hone::engine {
namespace {

using graph::Dim;
using test::GraphBuilder;

constexpr int kContexts = 8;

/// Multiplies rows by a constant, of which it packs a copy.
class ScaleTactic final : public Tactic {
 public:
  ScaleTactic() {
    name = "scale";
    make = [this](const StepRequest& request, WeightStore& weights) { return scale(request, weights); };
  }
  ScaleTactic(const ScaleTactic&) = delete;
  ScaleTactic& operator=(const ScaleTactic&) = delete;

  mutable std::atomic<int> offers = 0;
  mutable std::atomic<int> packs = 0;
  /// Asked in each offer, if it is there.
  std::function<void()> during_offer;

 private:
  Offer scale(const StepRequest& request, WeightStore& weights) const {
    ++offers;
    if (during_offer) during_offer();
    const graph::Value& factors = request.graph.value(request.node.inputs[1]);
    const WeightKey key{factors.name, "copy"};
    const tensor::Tensor* packed = weights.find(key);
    if (packed == nullptr) {
      ++packs;
      const tensor::Tensor& plain = *factors.constant;
      tensor::Tensor bytes(DType::kUInt8, {static_cast<int64_t>(plain.byte_size())});
      std::memcpy(bytes.mutable_bytes(), plain.bytes(), plain.byte_size());
      packed = &weights.add(key, std::move(bytes));
    }
    Offer offer;
    offer.inputs = {request.inputs[0], {}};
    offer.outputs = request.outputs;
    offer.packed = {key};
    offer.kernel = std::make_shared<Scale>(*packed, request.inputs[0].shape[0]);
    return offer;
  }

  class Scale final : public Kernel {
   public:
    Scale(const tensor::Tensor& packed, int64_t rows)
        : factors_(reinterpret_cast<const float*>(packed.bytes()), packed.byte_size() / sizeof(float)),
          rows_(rows) {}
    void run(const Run& run) const override {
      const auto* x = static_cast<const float*>(run.inputs[0]);
      auto* y = static_cast<float*>(run.outputs[0]);
      for (int64_t row = 0; row < rows_; ++row) {
        for (const float factor : factors_) *y++ = *x++ * factor;
      }
    }

   private:
    std::span<const float> factors_;
    int64_t rows_;
  };
};

/// The CPU, but for products.
class ScalingDevice final : public Device {
 public:
  std::string_view name() const override { return "scaling"; }
  std::string fingerprint() const override { return "scaling; 1"; }
  std::vector<Layout> image_layouts(Precision) const override { return {Layout::kPlain}; }
  std::vector<const Tactic*> tactics(const graph::Node& node) const override {
    if (node.op == "Mul") return {&scale};
    return cpu().tactics(node);
  }
  std::shared_ptr<const Kernel> make_reorder(const TensorDesc& from, const TensorDesc& to) const override {
    return cpu().make_reorder(from, to);
  }
  bool computes_in(Precision precision) const override { return precision == Precision::kFp32; }
  std::shared_ptr<const Kernel> make_rounding(std::shared_ptr<const Kernel> kernel,
                                              std::vector<TensorDesc>) const override {
    return kernel;
  }
  void set_threads(int threads) const override { cpu().set_threads(threads); }
  std::vector<std::string> notes(const NumericPolicy&) const override { return {}; }

  ScaleTactic scale;

 private:
  static const Device& cpu() { return device::cpu::cpu_device(); }
};

graph::Graph scaling_graph() {
  GraphBuilder b;
  return b.finish({b.node("Mul", {b.input("x", {Dim::symbol("n"), 4}), b.random({4})})});
}

std::shared_ptr<Engine> build(const graph::Graph& graph, const Device& device) {
  BuildOptions options;
  options.optimization_level = 0;
  options.disabled_passes = {"elementwise_fusion"};
  return build_engine(graph, device, options);
}

/// Does it in threads that begin together.
template <class Action>
void together(int count, Action&& action) {
  std::atomic<int> ready = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      ++ready;
      while (ready < count) std::this_thread::yield();
      action(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

bool same(const tensor::Tensor& a, const tensor::Tensor& b) {
  return a.shape() == b.shape() && a.to_double() == b.to_double();
}

TEST(LoadedEngine, EightContextsCompileAndPackOnce) {
  const ScalingDevice device;
  const graph::Graph graph = scaling_graph();
  const auto engine = build(graph, device);
  engine->weights.keep_only({});
  device.scale.offers = 0;
  device.scale.packs = 0;
  const auto loaded = std::make_shared<LoadedEngine>(engine, device, 1);
  std::atomic<int> wrong = 0;
  together(kContexts, [&](int i) {
    Context context(loaded);
    for (int run = 0; run < 20; ++run) {
      const auto inputs = test::random_inputs(graph, static_cast<uint32_t>(20 * i + run), 1 + run % 2);
      const auto expected = reference::run_graph(graph, inputs);
      wrong += same(context.run(inputs)[0], expected[0]) ? 0 : 1;
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(device.scale.offers, 2) << "one for each shape";
  EXPECT_EQ(device.scale.packs, 1);
  EXPECT_EQ(loaded->packed_bytes(), 16);
  EXPECT_EQ(engine->weights.total_bytes(), 0) << "an engine does not change";
}

TEST(LoadedEngine, KnownShapesDoNotWaitForNewOnes) {
  ScalingDevice device;
  const graph::Graph graph = scaling_graph();
  LoadedEngine loaded(build(graph, device), device, 1);
  const std::vector<Shape> known = {{1, 4}};
  const auto first = loaded.program(known);
  std::promise<void> compiles;
  std::promise<void> go_on;
  device.scale.during_offer = [&] {
    compiles.set_value();
    go_on.get_future().wait();
  };
  std::thread beside([&] { loaded.program(std::vector<Shape>{{2, 4}}); });
  compiles.get_future().wait();
  auto asked = std::async(std::launch::async, [&] {
    EXPECT_EQ(loaded.packed_bytes(), 16);
    return loaded.program(known);
  });
  const bool waits = asked.wait_for(std::chrono::seconds(20)) != std::future_status::ready;
  go_on.set_value();
  beside.join();
  EXPECT_FALSE(waits);
  EXPECT_EQ(asked.get(), first);
}

TEST(LoadedEngine, ContextsOfItRunAtTheSameTime) {
  GraphBuilder b;
  const auto x = b.input("x", {Dim::symbol("n"), 3, 12, 12});
  const auto y = b.node("Relu", {b.conv(x, 3, 24)});
  const auto z = b.node("Add", {b.conv(y, 24, 24), y});
  const graph::Graph graph = b.finish({b.node("Flatten", {b.node("GlobalAveragePool", {z})}), z});
  const Device& device = device::cpu::cpu_device();
  const auto loaded = std::make_shared<LoadedEngine>(build(graph, device), device, 1);
  std::atomic<int> wrong = 0;
  together(kContexts, [&](int i) {
    const auto inputs = test::random_inputs(graph, static_cast<uint32_t>(i), 1 + i % 3);
    const auto expected = reference::run_graph(graph, inputs);
    Context context(loaded);
    for (int run = 0; run < 10; ++run) {
      const auto outputs = context.run(inputs);
      for (size_t k = 0; k < expected.size(); ++k)
        wrong += test::relative_error(outputs[k], expected[k]) <= test::rounding_tolerance(graph) ? 0 : 1;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(LoadedEngine, KeepsTheProgramsThatWereAskedForLast) {
  const ScalingDevice device;
  const auto loaded = std::make_shared<LoadedEngine>(build(scaling_graph(), device), device, 1);
  const auto offers_of = [&](int64_t rows) {
    const int before = device.scale.offers;
    (void)loaded->program(std::vector<Shape>{{rows, 4}});
    return device.scale.offers - before;
  };
  for (int64_t rows = 1; rows <= 16; ++rows) EXPECT_EQ(offers_of(rows), 1);
  EXPECT_EQ(offers_of(1), 0);
  EXPECT_EQ(offers_of(17), 1) << "it takes the room of 2 rows";
  EXPECT_EQ(offers_of(1), 0);
  EXPECT_EQ(offers_of(2), 1);
}

TEST(LoadedEngine, AShapeThatCannotRunLeavesNothingBehind) {
  const ScalingDevice device;
  const auto loaded = std::make_shared<LoadedEngine>(build(scaling_graph(), device), device, 1);
  for (int i = 0; i < 2; ++i) EXPECT_THROW((void)loaded->program(std::vector<Shape>{{2, 5}}), Error);
  EXPECT_EQ(loaded->program(std::vector<Shape>{{2, 4}})->steps().size(), 1U);
}

}  // namespace
}  // namespace hone::engine
