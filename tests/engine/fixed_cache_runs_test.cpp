// Runs of an engine whose caches stay where they are: what they refuse, and what a new sequence sees of an
// old one.
#include "engine/fixed_cache_runs.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.hpp"
#include "device/cpu/cpu_device.hpp"
#include "engine/builder.hpp"
#include "engine/loaded_engine.hpp"
#include "graph/infer.hpp"
#include "graph/text/parser.hpp"
#include "support/equivalence.hpp"

namespace hone::engine {
namespace {

using tensor::DType;
using tensor::Tensor;

/// One causal head whose rows are queries, keys and values alike.
constexpr std::string_view kHead = R"(
graph (%x: float32[batch, new, 4], %past.key: float32[batch, past, 4], %past.value: float32[batch, past, 4])
    -> (%y, %present.key, %present.value) {
  %length = Shape(%past.key) {start = 1, end = 2}
  %fresh = Shape(%x) {start = 1, end = 2}
  %total = Add(%length, %fresh)
  %zero = const int64[] 0
  %one = const int64[] 1
  %axis1 = const int64[1] [1]
  %first = Squeeze(%length)
  %end = Squeeze(%total)
  %columns = Range(%zero, %end, %one)
  %rows = Range(%first, %end, %one)
  %column = Unsqueeze(%rows, %axis1)
  %sees = LessOrEqual(%columns, %column)
  %allowed = const float32[] 0
  %denied = const float32[] -3e38
  %mask = Where(%sees, %allowed, %denied)
  %present.key = Concat(%past.key, %x) {axis = 1}
  %present.value = Concat(%past.value, %x) {axis = 1}
  %kk = Transpose(%present.key) {perm = [0, 2, 1]}
  %scores = MatMul(%x, %kk)
  %masked = Add(%scores, %mask)
  %weights = Softmax(%masked)
  %y = MatMul(%weights, %present.value)
}
)";

const std::vector<std::string> kBind = {"past.*=present.*"};

std::shared_ptr<Engine> build(std::map<std::string, std::string> metadata = {},
                              DType stored = DType::kFloat32) {
  graph::Graph graph = graph::parse_graph(kHead);
  graph.sort_topologically();
  graph::infer_types(graph);
  BuildOptions options;
  options.optimization_level = 0;
  const auto fixed = with_fixed_caches(graph, kBind, 16, stored, &options.metadata);
  for (const auto& [key, value] : metadata) options.metadata[key] = value;
  return build_engine(*fixed, device::cpu::cpu_device(), options);
}

FixedCacheRuns make_runs(DType stored = DType::kFloat32) {
  const auto engine = build({}, stored);
  return FixedCacheRuns(std::make_shared<LoadedEngine>(engine, device::cpu::cpu_device(), 1),
                        *fixed_caches_of(*engine));
}

/// Inputs in graph order: the tokens, and the places of those that are the runs' own.
std::vector<Tensor> tokens(Tensor x) { return {std::move(x), Tensor(), Tensor(), Tensor()}; }

std::string bad_input(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    return error.what();
  }
  return "nothing thrown";
}

TEST(FixedCacheRuns, AnotherTypeIsRefusedAlsoInAShapeThatWasMet) {
  FixedCacheRuns runs = make_runs();
  runs.run(tokens(test::random_tensor({1, 2, 4}, 1)));
  EXPECT_EQ(bad_input([&] {
              runs.run(tokens(Tensor(DType::kFloat64, {1, 2, 4})));
            }),
            "input 'x' has type float64, expected float32[batchxnewx4]");
  EXPECT_EQ(runs.length(), 2);
}

/// Tokens that are masked weigh 0, and 0 times NaN would be NaN.
TEST(FixedCacheRuns, ANewSequenceSeesNothingOfTheOneBefore) {
  FixedCacheRuns runs = make_runs();
  const std::vector<Tensor> given = tokens(test::random_tensor({1, 2, 4}, 1));
  const Tensor expected = runs.run(given)[0];
  Tensor broken(DType::kFloat32, {1, 5, 4});
  std::ranges::fill(broken.mutable_values<float>(), std::numeric_limits<float>::quiet_NaN());
  runs.reset();
  runs.run(tokens(broken));
  runs.reset();
  EXPECT_EQ(runs.length(), 0);
  EXPECT_LE(test::relative_error(runs.run(given)[0], expected), 0);
}

/// The first tokens of two caches that grow, and what a run makes of the last one.
struct Grown {
  Tensor first;
  Tensor last;
  std::vector<Tensor> outputs;
};

Grown grow(DType stored) {
  FixedCacheRuns runs = make_runs(stored);
  Grown grown{test::random_tensor({1, 5, 4}, 1), test::random_tensor({1, 1, 4}, 2), {}};
  runs.run(tokens(grown.first));
  grown.outputs = runs.run(tokens(grown.last));
  return grown;
}

TEST(FixedCacheRuns, GoOnFromCachesThatSomebodyElseMade) {
  const Grown grown = grow(DType::kFloat32);
  FixedCacheRuns runs = make_runs();
  const std::vector<Tensor> inputs{grown.last, grown.first, grown.first, Tensor()};
  runs.fill(runs.prepare(inputs));
  EXPECT_EQ(runs.length(), 5);
  runs.upload(inputs);
  for (int turn = 0; turn < 2; ++turn) {
    runs.execute();
    EXPECT_LE(test::relative_error(runs.download()[0], grown.outputs[0]), 0) << "of turn " << turn;
  }
  EXPECT_EQ(runs.length(), 5) << "the turns are one run";
  const Tensor cache = runs.cache(1);
  EXPECT_EQ(cache.shape(), (tensor::Shape{1, 6, 4}));
  EXPECT_EQ(cache.values<float>()[19], grown.first.values<float>()[19]);
  EXPECT_EQ(cache.values<float>()[20], grown.last.values<float>()[0]);
  runs.advance();
  EXPECT_EQ(runs.length(), 6);
}

TEST(FixedCacheRuns, RefuseCachesThatDoNotFit) {
  const FixedCacheRuns runs = make_runs();
  const Tensor token(DType::kFloat32, {1, 1, 4});
  EXPECT_EQ(bad_input([&] {
              runs.prepare(std::vector<Tensor>{token, Tensor(DType::kFloat32, {1, 17, 4}),
                                               Tensor(DType::kFloat32, {1, 17, 4}), Tensor()});
            }),
            "input 'past.key' is no cache of 16 tokens at most: it has shape 1x17x4");
  EXPECT_EQ(bad_input([&] {
              runs.prepare(std::vector<Tensor>{token, Tensor(DType::kFloat32, {1, 3, 4}),
                                               Tensor(DType::kFloat32, {1, 2, 4}), Tensor()});
            }),
            "input 'past.value' is no cache of 16 tokens at most: it has shape 1x2x4");
}

TEST(FixedCacheRuns, CachesOf16BitsHoldWhatTheyCan) {
  const auto engine = build({}, DType::kFloat16);
  EXPECT_EQ(engine->graph->value(engine->graph->inputs[1]).type.text(), "float16[batchx16x4]");
  EXPECT_EQ(engine->graph->value(engine->graph->outputs[1]).name, "present.key");
  const Grown exact = grow(DType::kFloat32);
  const Grown narrow = grow(DType::kFloat16);
  const double error = test::relative_error(narrow.outputs[0], exact.outputs[0]);
  EXPECT_GT(error, 0);
  EXPECT_LT(error, 1.0 / 1024);  // half has 11 bits
}

TEST(FixedCacheRuns, MetadataThatNameNoCachesAreRefused) {
  const std::string stars(60000, '*');
  for (const std::string& bound :
       {stars + "=" + stars, std::string("past.*=present.*"), std::string("past.key"),
        std::string("past.key=y"), std::string("past.key=present.key\npast.key=present.key"),
        std::string()}) {
    EXPECT_EQ(bad_input([&] {
                fixed_caches_of(*build({{"cache.bound", bound}}));
              }),
              "the metadata of the engine do not fit its caches")
        << bound.substr(0, 40);
  }
}

}  // namespace
}  // namespace hone::engine
