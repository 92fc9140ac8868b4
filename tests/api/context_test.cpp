// The public API's contexts: bound memory, threads that share an engine, DLPack, and what is refused.
#include "hone/context.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>

#include "hone/dlpack.hpp"
#include "hone/engine.hpp"
#include "support/usage_error.hpp"

namespace hone {
namespace {

using test::usage_error;

Engine digits() {
  BuildOptions options;
  options.optimization_level = 0;
  options.threads = 1;
  return Engine::build(HONE_SOURCE_DIR "/models/digits/digits.onnx", options);
}

std::vector<float> image(float value) {
  std::vector<float> pixels(64);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = value * static_cast<float>(i % 7);
  return pixels;
}

TensorView input(const std::vector<float>& pixels) { return {std::span(pixels), {1, 1, 8, 8}}; }

bool same(const TensorView& view, const Tensor& tensor) {
  return view.dims == tensor.dims && std::ranges::equal(view.bytes, tensor.bytes);
}

TEST(ApiContext, RunsOnTheCallersMemory) {
  Engine engine = digits();
  Context context = engine.make_context();
  std::vector<float> pixels = image(0.1F);
  std::vector<float> scores(10);
  Binding binding = context.bind({input(pixels)}, {TensorView(std::span(scores), {1, 10})});
  for (const float value : {0.1F, 0.2F}) {
    std::ranges::copy(image(value), pixels.begin());  // they stay where they were bound
    context.run(binding);
    EXPECT_TRUE(std::ranges::equal(scores, engine.run({input(pixels)})[0].elements<float>()));
  }
  EXPECT_EQ(binding.reordered_inputs(), 0U);
}

TEST(ApiContext, ThreadsShareAnEngineThatMayGo) {
  constexpr int kThreads = 4;
  auto engine = std::make_unique<Engine>(digits());
  std::vector<std::vector<float>> images;
  std::vector<Tensor> expected;
  std::vector<Context> contexts;
  for (int i = 0; i < kThreads; ++i) {
    images.push_back(image(0.1F * static_cast<float>(i)));
    expected.push_back(engine->run({input(images.back())})[0]);
    contexts.push_back(engine->make_context());
  }
  engine.reset();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      Binding binding = contexts[i].bind({input(images[i])}, {TensorView()});
      for (int run = 0; run < 50; ++run) {
        contexts[i].run(binding);
        wrong += same(binding.outputs()[0], expected[i]) ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

/// Two threads use an object until one of them is refused; the sentence, empty where none is for a long time.
template <class Run>
std::string refusal_of_two_threads(const Run& run) {
  constexpr auto kPatience = std::chrono::seconds(20);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  std::atomic<bool> done = false;
  std::string refusal;
  std::mutex mutex;
  const auto loop = [&] {
    while (!done && std::chrono::steady_clock::now() < end) {
      try {
        run();
      } catch (const Error& error) {
        const std::lock_guard lock(mutex);
        refusal = error.what();
        done = true;
      }
    }
  };
  std::thread other(loop);
  loop();
  other.join();
  return refusal;
}

TEST(ApiContext, TwoThreadsInOneObjectAreRefused) {
  const std::vector<float> pixels = image(0.1F);
  Engine engine = digits();
  EXPECT_EQ(refusal_of_two_threads([&] { engine.run({input(pixels)}); }),
            "another thread uses this engine: each thread needs a context or sequence of its own");
  Context context = engine.make_context();
  Binding binding = context.bind({input(pixels)}, {TensorView()});
  EXPECT_EQ(refusal_of_two_threads([&] { context.run(binding); }),
            "another thread uses this context: each thread needs a context or sequence of its own");
  EXPECT_EQ(engine.run({input(pixels)}).size(), 1U) << "it can be used again";
}

TEST(ApiContext, LooseViewsAreCounted) {
  Engine engine = digits();
  Context context = engine.make_context();
  const std::vector<float> pixels = image(0.3F);
  const Tensor expected = engine.run({input(pixels)})[0];
  std::vector<std::vector<float>> scores(10, std::vector<float>(10));
  for (std::vector<float>& each : scores) {
    const auto outputs = context.run({input(pixels)}, {TensorView(std::span(each), {1, 10})});
    EXPECT_TRUE(same(outputs[0], expected));
  }
  EXPECT_EQ(context.view_counts().bindings, 8);
  EXPECT_EQ(context.view_counts().copies, 4);
  EXPECT_EQ(context.view_counts().copied_bytes, 2 * (64 + 10) * 4);
}

TEST(ApiContext, TensorsComeAndGoByDlpack) {
  Engine engine = digits();
  Context context = engine.make_context();
  const std::vector<float> pixels = image(0.4F);
  const Buffer memory = allocate(engine.place(), 256);
  const TensorView there = memory.view(DataType::kFloat32, {1, 1, 8, 8});
  copy(input(pixels), there, Queue(engine.place()));
  Binding binding = context.bind({from_dlpack(to_dlpack(there))}, {TensorView()});
  context.run(binding);
  const TensorView back = from_dlpack(to_dlpack(binding.outputs()[0]));
  EXPECT_TRUE(same(back, engine.run({input(pixels)})[0]));
}

TEST(ApiContext, WhatCannotBeIsRefused) {
  Engine engine = digits();
  Context context = engine.make_context();
  const std::vector<float> pixels = image(0.5F);
  EXPECT_EQ(usage_error([] { Queue::of_stream({}, nullptr); }), "the device cpu has no streams");
  EXPECT_NE(usage_error([] { Queue::of_dlpack_stream({}, 0); }), "");
  EXPECT_EQ(usage_error([] { allocate({PlaceKind::kCpu, 1}, 4); }), "there is no place of ordinal 1");
  std::vector<float> scores(10);
  const TensorView read_only(std::span<const float>(scores), {1, 10});
  EXPECT_NE(usage_error([&] { context.bind({input(pixels)}, {read_only}); }).find("read-only"),
            std::string::npos);
  TensorView strided = input(pixels);
  strided.strides = {64, 64, 1, 8};
  EXPECT_EQ(usage_error([&] { engine.run({strided}); }),
            "Engine::run() takes row-major tensors on the host: bind others to a Context");
  EXPECT_EQ(context.bind({strided}, {TensorView()}).reordered_inputs(), 1U);
  const Queue queue(Place{});
  EXPECT_EQ(usage_error([&] { copy(input(pixels), strided, queue); }), "a copy needs row-major tensors");
  EXPECT_EQ(usage_error([&] { copy(input(pixels), read_only, queue); }),
            "a copy needs two tensors of one type and shape");
}

}  // namespace
}  // namespace hone
