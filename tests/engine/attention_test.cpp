// Attention in the forms in which exporters write it becomes one step on the CPU and gives what the reference
// gives.
#include <gtest/gtest.h>

#include "device/cpu/cpu_device.hpp"
#include "device/cpu/tile_math.hpp"
#include "engine/builder.hpp"
#include "engine/context.hpp"
#include "graph/text/parser.hpp"
#include "support/equivalence.hpp"

namespace hone::engine {
namespace {

struct Form {
  const char* name;
  const char* text;
  /// For symbols in the inputs, in order of appearance.
  std::vector<std::vector<int64_t>> shapes = {};
};

void PrintTo(const Form& form, std::ostream* out) { *out << form.name; }

const Form kForms[] = {
    {"separate_operands",
     R"(graph (%a: float32[2, 9, 24], %b: float32[2, 9, 24], %c: float32[2, 9, 24]) -> (%y) {
  %s = const int64[4] [0, 0, 3, 8]
  %q1 = Reshape(%a, %s)
  %q = Transpose(%q1) {perm = [0, 2, 1, 3]}
  %k1 = Reshape(%b, %s)
  %k = Transpose(%k1) {perm = [0, 2, 3, 1]}
  %v1 = Reshape(%c, %s)
  %v = Transpose(%v1) {perm = [0, 2, 1, 3]}
  %p = MatMul(%q, %k)
  %f = const float32[] 0.35
  %m = Mul(%p, %f)
  %w = Softmax(%m)
  %r = MatMul(%w, %v)
  %y = Transpose(%r) {perm = [0, 2, 1, 3]}
})"},
    {"scaled_operands_with_a_mask",
     R"(graph (%q: float32[2, 3, 7, 5], %k: float32[2, 3, 5, 11], %v: float32[2, 3, 11, 6], %m: float32[2, 1, 1, 11]) -> (%y) {
  %f = const float32[] 0.6
  %qs = Mul(%q, %f)
  %ks = Mul(%f, %k)
  %p = MatMul(%qs, %ks)
  %s = Add(%m, %p)
  %w = Softmax(%s) {axis = 3}
  %y = MatMul(%w, %v)
})"},
    {"packed_by_gather", R"(graph (%x: float32[1, 10, 48]) -> (%y) {
  %s = const int64[5] [1, 10, 3, 2, 8]
  %r = Reshape(%x, %s)
  %t = Transpose(%r) {perm = [2, 0, 3, 1, 4]}
  %i0 = const int64[] 0
  %i1 = const int64[] 1
  %i2 = const int64[] -1
  %q = Gather(%t, %i0)
  %k1 = Gather(%t, %i1)
  %v = Gather(%t, %i2)
  %k = Transpose(%k1) {perm = [0, 1, 3, 2]}
  %p = MatMul(%q, %k)
  %w = Softmax(%p)
  %o = MatMul(%w, %v)
  %y = Transpose(%o) {perm = [0, 2, 1, 3]}
})"},
    {"packed_by_split", R"(graph (%x: float32[3, 6, 36]) -> (%y) {
  %n = const int64[3] [12, 12, 12]
  %q, %k1, %v = Split(%x, %n) {axis = 2}
  %k = Transpose(%k1) {perm = [0, 2, 1]}
  %p = MatMul(%q, %k)
  %w = Softmax(%p)
  %y = MatMul(%w, %v)
})"},
    {"packed_by_slices", R"(graph (%x: float32[5, 18]) -> (%y) {
  %a = const int64[1] [1]
  %b0 = const int64[1] [0]
  %b1 = const int64[1] [6]
  %b2 = const int64[1] [-6]
  %e = const int64[1] [100]
  %q = Slice(%x, %b0, %b1, %a)
  %n = const int64[1] [12]
  %k1 = Slice(%x, %b1, %n, %a)
  %v = Slice(%x, %b2, %e, %a)
  %k = Transpose(%k1) {perm = [1, 0]}
  %p = MatMul(%q, %k)
  %w = Softmax(%p)
  %y = MatMul(%w, %v)
})"},
    {"queries_that_share_keys",
     R"(graph (%q: float32[2, 4, 3, 8], %k1: float32[2, 2, 13, 8], %v1: float32[2, 2, 13, 8]) -> (%y) {
  %a = const int64[1] [2]
  %e = const int64[5] [2, 2, 2, 13, 8]
  %s = const int64[4] [2, 4, 13, 8]
  %k2 = Unsqueeze(%k1, %a)
  %k3 = Expand(%k2, %e)
  %k4 = Reshape(%k3, %s)
  %k = Transpose(%k4) {perm = [0, 1, 3, 2]}
  %v2 = Unsqueeze(%v1, %a)
  %v3 = Expand(%v2, %e)
  %v = Reshape(%v3, %s)
  %p = MatMul(%q, %k)
  %w = Softmax(%p)
  %y = MatMul(%w, %v)
})"},
    {"channels_first", R"(graph (%x: float32[1, 24, 4, 4]) -> (%y) {
  %s = const int64[4] [1, 2, 12, 16]
  %r = Reshape(%x, %s)
  %n = const int64[3] [4, 4, 4]
  %q1, %k, %v1 = Split(%r, %n) {axis = 2}
  %q = Transpose(%q1) {perm = [0, 1, 3, 2]}
  %v = Transpose(%v1) {perm = [0, 1, 3, 2]}
  %p = MatMul(%q, %k)
  %w = Softmax(%p)
  %y = MatMul(%w, %v)
})"},
    {"a_bias_and_a_window_mask",
     R"(graph (%q: float32[4, 2, 5, 8], %k: float32[4, 2, 8, 5], %v: float32[4, 2, 5, 8]) -> (%y) {
  %b = const float32[1, 2, 5, 5] seeded(1)
  %m = const float32[1, 2, 1, 5, 5] seeded(2)
  %s5 = const int64[5] [2, 2, 2, 5, 5]
  %s4 = const int64[4] [4, 2, 5, 5]
  %p = MatMul(%q, %k)
  %pb = Add(%p, %b)
  %r = Reshape(%pb, %s5)
  %rm = Add(%r, %m)
  %u = Reshape(%rm, %s4)
  %w = Softmax(%u)
  %o = MatMul(%w, %v)
  %y = Transpose(%o) {perm = [0, 2, 1, 3]}
})"},
    {"rows_that_are_masked_as_a_whole",
     R"(graph (%q: float32[3, 5, 8], %k: float32[3, 8, 7], %v: float32[3, 7, 8]) -> (%y) {
  %m = const float32[1, 5, 7] [0, 0, 0, 0, 0, 0, 0,
    -inf, -inf, -inf, -inf, -inf, -inf, -inf,
    0, -inf, 0, -inf, 0, -inf, 0,
    -inf, -inf, -inf, -inf, -inf, -inf, -inf,
    -inf, 0, 0, 0, 0, 0, 0]
  %zero = const float32[] 0
  %p = MatMul(%q, %k)
  %s = Add(%p, %m)
  %w = Softmax(%s)
  %n = IsNaN(%w)
  %g = Where(%n, %zero, %w)
  %y = MatMul(%g, %v)
})"},
    {"a_mask_that_shows_before_one_that_is_added",
     R"(graph (%q: float32[2, 3, 4, 8], %k: float32[2, 3, 8, 6], %v: float32[2, 3, 6, 8], %m: float32[6]) -> (%y) {
  %seen = const bool[2, 1, 1, 6] [true, true, false, true, false, true, false, true, true, true, true, false]
  %least = const float32[1] [-3.4028234663852886e38]
  %p = MatMul(%q, %k)
  %c = Where(%seen, %p, %least)
  %s = Add(%c, %m)
  %w = Softmax(%s)
  %y = MatMul(%w, %v)
})"},
    {"a_mask_that_hides_whole_rows",
     R"(graph (%q: float32[2, 4, 8], %k: float32[2, 8, 6], %v: float32[2, 6, 8]) -> (%y) {
  %hidden = const bool[4, 1] [true, false, true, false]
  %causal = const bool[4, 6] [false, true, true, true, true, true, false, false, true, true, true, true,
    false, false, false, true, true, true, false, false, false, false, true, true]
  %least = const float32[] -1e4
  %none = const float32[] -inf
  %p = MatMul(%q, %k)
  %c = Where(%hidden, %least, %p)
  %d = Where(%causal, %none, %c)
  %w = Softmax(%d)
  %y = MatMul(%w, %v)
})"},
    {"one_row_of_many_keys",
     R"(graph (%q: float32[12, 1, 64], %k: float32[12, 64, 333], %v: float32[12, 333, 64]) -> (%y) {
  %p = MatMul(%q, %k)
  %w = Softmax(%p)
  %y = MatMul(%w, %v)
})"},
    {"odd_sizes", R"(graph (%q: float32[2, 45, 37], %k1: float32[2, 71, 37], %v: float32[2, 71, 43]) -> (%y) {
  %k = Transpose(%k1) {perm = [0, 2, 1]}
  %p = MatMul(%q, %k)
  %w = Softmax(%p)
  %y = MatMul(%w, %v)
})"},
    {"keys_that_are_barely_masked",
     R"(graph (%q: float32[4, 9, 8], %k: float32[4, 8, 9], %v: float32[4, 9, 8]) -> (%y) {
  %m = const float32[9] [0, -100, -100, 0, -90, -100, -60, -1000, 0]
  %p = MatMul(%q, %k)
  %s = Add(%p, %m)
  %w = Softmax(%s)
  %y = MatMul(%w, %v)
})"},
    {"more_rows_than_a_block",
     R"(graph (%q: float32[1, 300, 16], %k: float32[1, 16, 700], %v: float32[1, 700, 16]) -> (%y) {
  %p = MatMul(%q, %k)
  %w = Softmax(%p)
  %y = MatMul(%w, %v)
})"},
    {"open_batch_and_length",
     R"(graph (%a: float32[N, S, 24], %b: float32[N, S, 24], %c: float32[N, S, 24]) -> (%y) {
  %s = const int64[4] [0, 0, 3, 8]
  %q1 = Reshape(%a, %s)
  %q = Transpose(%q1) {perm = [0, 2, 1, 3]}
  %k1 = Reshape(%b, %s)
  %k = Transpose(%k1) {perm = [0, 2, 3, 1]}
  %v1 = Reshape(%c, %s)
  %v = Transpose(%v1) {perm = [0, 2, 1, 3]}
  %p = MatMul(%q, %k)
  %w = Softmax(%p)
  %r = MatMul(%w, %v)
  %y = Transpose(%r) {perm = [0, 2, 1, 3]}
})",
     {{2, 17, 24}, {1, 40, 24}}},
};

TEST(ProjectionPacking, MakesOneProductOfThree) {
  const graph::Graph graph = graph::parse_graph(R"(graph (%x: float32[2, 9, 24]) -> (%y) {
  %wq = const float32[24, 24] seeded(1)
  %wk = const float32[24, 24] seeded(2)
  %wv = const float32[24, 12] seeded(3)
  %bq = const float32[24] seeded(4)
  %bv = const float32[12] seeded(5)
  %q0 = MatMul(%x, %wq)
  %qb = Add(%q0, %bq)
  %k0 = MatMul(%x, %wk)
  %v0 = MatMul(%x, %wv)
  %vb = Add(%bv, %v0)
  %s = const int64[4] [0, 0, 3, 8]
  %t = const int64[4] [0, 0, 3, 4]
  %q1 = Reshape(%qb, %s)
  %q = Transpose(%q1) {perm = [0, 2, 1, 3]}
  %k1 = Reshape(%k0, %s)
  %k = Transpose(%k1) {perm = [0, 2, 3, 1]}
  %v1 = Reshape(%vb, %t)
  %v = Transpose(%v1) {perm = [0, 2, 1, 3]}
  %f = const float32[] 0.1
  %m = Mul(%q, %f)
  %p = MatMul(%m, %k)
  %w = Softmax(%p)
  %r = MatMul(%w, %v)
  %y = Transpose(%r) {perm = [0, 2, 1, 3]}
})");
  BuildOptions options;
  options.model = "projections";
  options.threads = 2;
  options.optimization_level = 0;
  options.default_batch = 1;
  options.shapes["x"] = {{2, 9, 24}, {2, 9, 24}, {2, 9, 24}};
  Context context(build_engine(graph, device::cpu::cpu_device(), options), device::cpu::cpu_device(), 2);
  const std::vector<tensor::Tensor> inputs = {test::random_tensor({2, 9, 24}, 1, -2, 2)};
  EXPECT_EQ(context.program(std::vector<Shape>{{2, 9, 24}}).steps().size(), 2U)
      << "a product and the attention";
  EXPECT_LE(test::relative_error(context.run(inputs)[0], reference::run_graph(graph, inputs)[0]), 1e-5);
}

/// All inputs have the same shape where there are several to try.
std::vector<Shape> shapes_of(const graph::Graph& graph, const std::vector<int64_t>& given) {
  std::vector<Shape> shapes;
  for (const graph::ValueId id : graph.inputs) {
    Shape shape = given;
    if (given.empty()) {
      for (const graph::Dim& dim : *graph.value(id).type.dims) shape.push_back(dim.value());
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

/// That a plan names; the one that the device prefers where there is none.
constexpr const char* kTactics[] = {"blocked_attention", "tiled_attention"};

class AttentionForms : public testing::TestWithParam<std::tuple<Form, Precision, const char*>> {};

std::string tactics_of(const Program& program) {
  std::string tactics;
  for (const ProgramStep& step : program.steps()) {
    const std::string tactic = step.plan.tactic.text();
    if (tactic != "reorder") tactics += tactic + " ";
  }
  return tactics;
}

/// Plans attention by that tactic.
void choose(Engine& engine, const std::string& tactic, const std::vector<Shape>& shapes) {
  Context context(std::make_shared<const Engine>(engine), device::cpu::cpu_device(), 2);
  for (const ProgramStep& step : context.program(shapes).steps()) {
    if (step.plan.tactic.name != kTactics[0]) continue;
    engine.plans[step.key()] = step.plan;
    engine.plans[step.key()].tactic.name = tactic;
  }
}

TEST_P(AttentionForms, AreOneStep) {
  const auto& [form, precision, tactic] = GetParam();
  const graph::Graph graph = graph::parse_graph(form.text);
  const bool tiled = tactic == std::string("tiled_attention");
  const bool narrow = precision == Precision::kBf16;
  using device::cpu::TileType;
  if (tiled && !device::cpu::has_tiles(narrow ? TileType::kBFloat16 : TileType::kFloat32))
    GTEST_SKIP() << "this CPU has no vectors for that type";
  const auto given = form.shapes.empty() ? std::vector<std::vector<int64_t>>{{}} : form.shapes;
  const std::vector<Shape> least = shapes_of(graph, given.front());
  const std::vector<Shape> most = shapes_of(graph, given.back());
  BuildOptions options;
  options.model = form.name;
  options.threads = 2;
  options.precision = precision;
  options.optimization_level = 0;
  options.default_batch = 1;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    Shape low = least[i];
    Shape high = least[i];
    for (size_t d = 0; d < low.size(); ++d) {
      low[d] = std::min(least[i][d], most[i][d]);
      high[d] = std::max(least[i][d], most[i][d]);
    }
    options.shapes[graph.value(graph.inputs[i]).name] = {low, least[i], high};
  }
  const std::shared_ptr<Engine> engine = build_engine(graph, device::cpu::cpu_device(), options);
  choose(*engine, tactic, least);
  Context context(engine, device::cpu::cpu_device(), 2);
  for (const auto& shape : given) {
    const std::vector<Shape> shapes = shapes_of(graph, shape);
    std::vector<tensor::Tensor> inputs;
    for (size_t i = 0; i < shapes.size(); ++i)
      inputs.push_back(test::random_tensor(shapes[i], static_cast<uint32_t>(7 + i), -2, 2));
    // Tiles sum 512 keys at most.
    const bool fits = form.name != std::string("more_rows_than_a_block");
    EXPECT_EQ(tactics_of(context.program(shapes)), std::string(fits ? tactic : kTactics[0]) + " ");
    const auto expected = reference::run_graph(graph, inputs);
    // Operands and weights of the second product are rounded once each: 8 bits, half a unit of the last.
    const double tolerance = narrow ? 8 * 0x1p-9 : 1e-6;
    EXPECT_LE(test::relative_error(context.run(inputs)[0], expected[0]), tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, AttentionForms,
                         testing::Combine(testing::ValuesIn(kForms),
                                          testing::Values(Precision::kFp32, Precision::kBf16),
                                          testing::ValuesIn(kTactics)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::string(tensor::precision_name(std::get<1>(info.param))) + "_" +
                                  std::get<2>(info.param);
                         });

}  // namespace
}  // namespace hone::engine
