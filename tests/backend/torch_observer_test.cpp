// PyTorch tells of its operators and its memory while it is observed, and of nothing otherwise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "backend/registry.hpp"
#include "backend/torch_support.hpp"
#include "base/clock.hpp"
#include "base/json.hpp"

namespace hone::backend {
namespace {

using test::GraphBuilder;
using test::Tensor;
using test::ValueId;

/// The stem's result has 8 x 12 x 12 floats of 4 bytes.
constexpr int64_t kStemBytes = 8 * 12 * 12 * 4;

graph::Graph network() {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 4, 12, 12});
  const ValueId stem = b.node("Relu", {b.conv(x, 4, 8)});
  return b.finish({b.node("Concat", {b.conv(stem, 8, 8), stem}, {{"axis", int64_t{1}}})});
}

struct ObservedRun {
  Observed observed;
  int64_t start_ns = 0;
  int64_t end_ns = 0;

  const std::string& name(const OperatorCall& call) const {
    return observed.texts.at(static_cast<size_t>(call.name));
  }
  Json shapes(const OperatorCall& call) const {
    return Json::parse(observed.texts.at(static_cast<size_t>(call.shapes)));
  }
  std::vector<OperatorCall> calls(const std::string& wanted) const {
    std::vector<OperatorCall> found;
    std::copy_if(observed.calls.begin(), observed.calls.end(), std::back_inserter(found),
                 [&](const OperatorCall& call) { return name(call) == wanted; });
    std::sort(found.begin(), found.end(),
              [](const OperatorCall& a, const OperatorCall& b) { return a.start_ns < b.start_ns; });
    return found;
  }
};

std::unique_ptr<Executable> loaded(const std::string& backend) {
  LoadOptions options;
  options.input_shapes["x"] = {1, 4, 12, 12};
  return make_backend(backend)->load(test::model_of(network()), options);
}

/// The second of two runs: the first takes what stays.
ObservedRun observed_run(Executable& executable, const ObserveOptions& options) {
  const std::vector<Tensor> inputs{test::random_tensor({1, 4, 12, 12}, 3)};
  executable.run(inputs);
  ObservedRun run;
  const auto observer = executable.observe(options);
  run.start_ns = base::monotonic_ns();
  executable.run(inputs);
  run.end_ns = base::monotonic_ns();
  run.observed = observer->finish();
  executable.run(inputs);  // not observed any more
  return run;
}

bool lies_in(const OperatorCall& inner, const OperatorCall& outer) {
  return inner.thread == outer.thread && inner.start_ns >= outer.start_ns && inner.end_ns <= outer.end_ns;
}

TEST(TorchObserver, TellsOperatorsAndTheirShapes) {
  const auto executable = loaded("torch");
  const ObservedRun run = observed_run(*executable, {.shapes = true});
  const std::vector<OperatorCall> outer = run.calls("aten::conv2d");
  const std::vector<OperatorCall> inner = run.calls("aten::convolution");
  ASSERT_EQ(outer.size(), 2U);
  ASSERT_EQ(inner.size(), 2U);
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(lies_in(inner[i], outer[i])) << i;
  EXPECT_LE(outer[0].end_ns, outer[1].start_ns);
  EXPECT_EQ(outer[0].thread, gettid());
  EXPECT_EQ(run.shapes(outer[0])[0], Json::parse("[1,4,12,12]"));
  EXPECT_EQ(run.shapes(outer[0])[1], Json::parse("[8,4,3,3]"));
  EXPECT_EQ(run.shapes(outer[1])[0], Json::parse("[1,8,12,12]"));
  const Json types = Json::parse(run.observed.texts.at(static_cast<size_t>(outer[0].types)));
  EXPECT_EQ(types[0], "float");
  EXPECT_EQ(types[3], "ScalarList") << "strides";
  EXPECT_EQ(types.size(), run.shapes(outer[0]).size());
  const std::vector<OperatorCall> concatenations = run.calls("aten::cat");
  ASSERT_EQ(concatenations.size(), 1U);
  EXPECT_EQ(run.shapes(concatenations[0]), Json::parse("[[[1,8,12,12],[1,8,12,12]],[]]"));
  for (const OperatorCall& call : run.observed.calls) {
    EXPECT_GE(call.start_ns, run.start_ns);
    EXPECT_LE(call.end_ns, run.end_ns);
    EXPECT_LE(call.start_ns, call.end_ns);
  }
  EXPECT_TRUE(run.observed.memory.empty());
}

TEST(TorchObserver, TellsNoShapesUnlessAsked) {
  const auto executable = loaded("torch");
  const ObservedRun run = observed_run(*executable, {});
  EXPECT_EQ(run.calls("aten::conv2d").size(), 2U);
  for (const OperatorCall& call : run.observed.calls) {
    EXPECT_EQ(call.shapes, -1);
    EXPECT_EQ(call.types, -1);
  }
}

TEST(TorchObserver, TellsMemory) {
  const auto executable = loaded("torch");
  const ObservedRun run = observed_run(*executable, {.memory = true});
  ASSERT_FALSE(run.observed.memory.empty());
  std::map<int64_t, int64_t> alive;
  int64_t held = 0;
  int64_t peak = 0;
  for (const MemoryEvent& event : run.observed.memory) {
    EXPECT_EQ(event.device, -1);
    EXPECT_GE(event.time_ns, run.start_ns);
    EXPECT_LE(event.time_ns, run.end_ns);
    if (event.bytes > 0) {
      EXPECT_TRUE(alive.emplace(event.address, event.bytes).second) << "taken twice";
    } else {
      EXPECT_EQ(alive[event.address], -event.bytes);
      alive.erase(event.address);
    }
    held += event.bytes;
    peak = std::max(peak, held);
    EXPECT_EQ(event.total_reserved, -1);
  }
  // The concatenation holds both its inputs and its result, which is as large as they are.
  EXPECT_GE(peak, 4 * kStemBytes);
  EXPECT_LE(held, 2 * kStemBytes) << "at most the result stays";
  const auto [first, last] = std::pair(run.observed.memory.front(), run.observed.memory.back());
  EXPECT_EQ(last.total_allocated - first.total_allocated, held - first.bytes);
}

TEST(TorchObserver, HearsTorchScriptToo) {
  const auto executable = loaded("torchscript");
  const ObservedRun run = observed_run(*executable, {.shapes = true, .memory = true});
  const std::vector<OperatorCall> forward = run.calls("forward");
  ASSERT_FALSE(forward.empty());
  EXPECT_EQ(run.shapes(forward[0]), Json::parse("[[],[1,4,12,12]]")) << "the module and its input";
  // Which operators are left depends on what this PyTorch fuses.
  EXPECT_TRUE(
      std::any_of(run.observed.calls.begin(), run.observed.calls.end(), [&](const OperatorCall& call) {
        return run.name(call).starts_with("aten::") && lies_in(call, forward[0]);
      }));
  EXPECT_FALSE(run.observed.memory.empty());
}

TEST(TorchObserver, StopsWhenItEnds) {
  const auto executable = loaded("torch");
  executable->observe({.memory = true});  // gone at once, so that there may be another
  const auto observer = executable->observe({});
  EXPECT_TRUE(observer->finish().calls.empty());
  EXPECT_THROW(
      {
        const auto first = executable->observe({});
        executable->observe({});
      },
      Error);
  EXPECT_EQ(observed_run(*executable, {}).calls("aten::cat").size(), 1U);
}

}  // namespace
}  // namespace hone::backend
