// If, Loop and Scan that stay in engines: their subgraphs are programs of the device, with passes, tactics
// and packed weights of their own.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>

#include "device/cpu/cpu_device.hpp"
#include "engine/builder.hpp"
#include "engine/context.hpp"
#include "engine/description.hpp"
#include "engine/engine_file.hpp"
#include "graph/infer.hpp"
#include "graph/text/parser.hpp"
#include "support/equivalence.hpp"

namespace hone::engine {
namespace {

using tensor::Tensor;

const Device& device() { return device::cpu::cpu_device(); }

/// Both branches multiply by the same captured weights, which fuse with what follows.
constexpr const char* kBranches = R"(
graph (%x: float32[N, 64], %c: bool[]) -> (%z) {
  %w = const float32[64, 96] seeded(1)
  %y = If(%c, %x, %w) {
    then_branch = graph (%a, %v) -> (%t) {
      %b = const float32[96] seeded(2)
      %m = MatMul(%a, %v)
      %s = Add(%m, %b)
      %t = Relu(%s)
    },
    else_branch = graph (%a, %v) -> (%e) {
      %b = const float32[96] seeded(3)
      %m = MatMul(%a, %v)
      %e = Add(%m, %b)
    },
    num_captures = 2
  }
  %z = Neg(%y)
})";

/// As many times as the input says, until the sum is large; every iteration's result is kept.
constexpr const char* kLoop = R"(
graph (%n: int64[], %x: float32[8, 32]) -> (%last, %all) {
  %w = const float32[32, 32] seeded(4)
  %true = const bool[] true
  %last, %all = Loop(%n, %true, %x, %w) {
    body = graph (%i: int64[], %go: bool[], %h, %v) -> (%on, %next, %kept) {
      %limit = const float32[] 1000000
      %m = MatMul(%h, %v)
      %next = Tanh(%m)
      %sum = ReduceSum(%next) {keepdims = 0}
      %on = Less(%sum, %limit)
      %kept = Identity(%next)
    },
    num_captures = 1
  }
})";

/// A row is appended in each iteration, as to a cache of keys.
constexpr const char* kGrowing = R"(
graph (%n: int64[], %x: float32[1, 48]) -> (%rows, %counts) {
  %w = const float32[48, 48] seeded(5)
  %empty = const float32[0, 48] fill(0)
  %rows, %row, %counts = Loop(%n, _, %empty, %x, %w) {
    body = graph (%i: int64[], %go: bool[], %past, %h, %v) -> (%on, %all, %next, %count) {
      %on = Identity(%go)
      %m = MatMul(%h, %v)
      %t = Tanh(%m)
      %all = Concat(%past, %t) {axis = 0}
      %axes = const int64[1] [0]
      %p = MatMul(%all, %v)
      %next = ReduceMean(%p, %axes)
      %shape = Shape(%all)
      %zero = const int64[] 0
      %count = Gather(%shape, %zero)
    },
    num_captures = 1
  }
})";

constexpr const char* kScan = R"(
graph (%h: float32[2, 16], %x: float32[T, 2, 16]) -> (%last, %all) {
  %w = const float32[16, 16] seeded(6)
  %last, %all = Scan(%h, %x, %w) {
    body = graph (%s, %e, %v) -> (%next, %kept) {
      %m = MatMul(%s, %v)
      %a = Add(%m, %e)
      %next = Tanh(%a)
      %kept = Identity(%next)
    },
    num_scan_inputs = 1, num_captures = 1
  }
})";

/// A branch in each iteration.
constexpr const char* kNested = R"(
graph (%n: int64[], %x: float32[4, 32]) -> (%last) {
  %w = const float32[32, 32] seeded(7)
  %last = Loop(%n, _, %x, %w) {
    body = graph (%i: int64[], %go: bool[], %h, %v) -> (%on, %next) {
      %on = Identity(%go)
      %two = const int64[] 2
      %r = Mod(%i, %two)
      %zero = const int64[] 0
      %even = Equal(%r, %zero)
      %next = If(%even, %h, %v) {
        then_branch = graph (%a, %u) -> (%t) {
          %m = MatMul(%a, %u)
          %t = Tanh(%m)
        },
        else_branch = graph (%a, %u) -> (%e) {
          %e = Neg(%a)
        },
        num_captures = 2
      }
    },
    num_captures = 1
  }
})";

graph::Graph typed(const char* text) {
  graph::Graph graph = graph::parse_graph(text);
  graph::infer_types(graph);
  return graph;
}

BuildOptions options(int level) {
  BuildOptions options;
  options.optimization_level = level;
  options.default_batch = 3;
  return options;
}

Tensor count(int64_t n) { return Tensor::of<int64_t>({n}, {}); }
Tensor flag(bool holds) { return Tensor::of<bool>({holds}, {}); }
Tensor numbers(const Shape& shape) { return test::random_tensor(shape, 7); }

void expect_reference(Context& context, const graph::Graph& graph, const std::vector<Tensor>& inputs) {
  const auto expected = reference::run_graph(graph, inputs);
  const auto actual = context.run(inputs);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_EQ(actual[i].shape(), expected[i].shape());
    // An iteration rounds as often as a node.
    EXPECT_LE(test::relative_error(actual[i], expected[i]), 16 * test::rounding_tolerance(graph));
  }
}

/// Builds, runs, stores and runs again.
void check(const char* text, const std::vector<std::vector<Tensor>>& runs) {
  const graph::Graph graph = typed(text);
  for (const int level : {0, 3}) {
    const auto engine = build_engine(graph, device(), options(level));
    Context built(engine, device(), 1);
    for (const auto& inputs : runs) expect_reference(built, graph, inputs);
    const auto file =
        std::filesystem::path(testing::TempDir()) / fmt::format("subgraphs_test-{}.hone", ::getpid());
    save_engine(*engine, device(), file);
    Context loaded(load_engine(file), device(), 1);
    std::filesystem::remove(file);
    for (const auto& inputs : runs) expect_reference(loaded, graph, inputs);
  }
}

TEST(Subgraphs, RunTheBranchThatTheDataChoose) {
  check(kBranches, {{numbers({3, 64}), flag(true)}, {numbers({5, 64}), flag(false)}});
}

TEST(Subgraphs, RunAsOftenAsTheDataSay) {
  check(kLoop, {{count(4), numbers({8, 32})}, {count(0), numbers({8, 32})}, {count(1), numbers({8, 32})}});
}

TEST(Subgraphs, CarryValuesThatGrow) {
  check(kGrowing, {{count(6), numbers({1, 48})}, {count(0), numbers({1, 48})}, {count(9), numbers({1, 48})}});
}

TEST(Subgraphs, ScanAnyLength) {
  check(kScan, {{numbers({2, 16}), numbers({5, 2, 16})}, {numbers({2, 16}), numbers({1, 2, 16})}});
}

TEST(Subgraphs, StandInSubgraphs) { check(kNested, {{count(5), numbers({4, 32})}}); }

/// Kinds and tactics of inner steps, also of those inside of inner ones.
void list_inner(const std::vector<StepDescription>& steps, std::multiset<std::string>& kinds) {
  for (const StepDescription& step : steps) {
    for (const StepDescription& inner : step.inner_steps)
      kinds.insert(inner.kind + (inner.tactic == "reference" ? " by reference" : ""));
    list_inner(step.inner_steps, kinds);
  }
}

TEST(Subgraphs, AreFusedAndShownWithTheirTactics) {
  const auto engine = build_engine(typed(kBranches), device(), options(3));
  LoadedEngine loaded(engine, device(), 1);
  const Description described = describe(loaded, tuned_shapes(*engine));
  std::multiset<std::string> kinds;
  list_inner(described.steps, kinds);
  EXPECT_EQ(kinds.count("FusedGemm") + kinds.count("Gemm"), 2U);
  EXPECT_EQ(kinds.count("Relu"), 0U);
  for (const std::string& kind : kinds) EXPECT_EQ(kind.find("by reference"), std::string::npos) << kind;
  EXPECT_EQ(described.steps[0].inner_steps[0].name, "y/then_branch/m + s + t");
  // The results of the search for a branch are in the log under the same name, and in the plans.
  const auto known = std::find_if(engine->log.begin(), engine->log.end(), [](const TacticRecord& record) {
    return record.step == "y/then_branch/m + s + t" && record.chosen;
  });
  EXPECT_NE(known, engine->log.end());
  EXPECT_TRUE(engine->plans.contains({0, {0, 0}}));
  EXPECT_TRUE(engine->plans.contains({0, {1, 0}}));
}

TEST(Subgraphs, ShareTheFormsOfTheirWeights) {
  const auto engine = build_engine(typed(kBranches), device(), options(0));
  int64_t packed = 0;
  for (const auto& [key, bytes] : engine->weights.entries()) packed += bytes.size();
  // One form of the weights of both branches, with room for padding, not two.
  EXPECT_LT(packed, 2 * 64 * 96 * 4);
}

TEST(Subgraphs, RunInSeveralContextsAtOnce) {
  const graph::Graph graph = typed(kNested);
  auto loaded = std::make_shared<LoadedEngine>(build_engine(graph, device(), options(0)), device(), 1);
  Context first(loaded);
  Context second(loaded);
  expect_reference(first, graph, {count(3), numbers({4, 32})});
  expect_reference(second, graph, {count(4), numbers({4, 32})});
  expect_reference(first, graph, {count(3), numbers({4, 32})});
}

}  // namespace
}  // namespace hone::engine
