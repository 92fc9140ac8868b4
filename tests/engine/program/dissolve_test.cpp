// Fused nodes that no tactic takes whole run as pieces on the device, and compute what the reference does.
#include "engine/program/dissolve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "device/cpu/cpu_device.hpp"
#include "engine/plans.hpp"
#include "engine/program/execution.hpp"
#include "support/equivalence.hpp"
#include "support/fused_forms.hpp"

namespace hone::engine {
namespace {

using test::GraphBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The CPU's tactics for the nodes that it takes, and one that refuses for the others.
class Partial final : public Device {
 public:
  using Takes = std::function<bool(const graph::Node&)>;
  explicit Partial(Takes takes) : takes_(std::move(takes)) {}

  std::string_view name() const override { return "partial"; }
  std::string fingerprint() const override { return "partial; 1"; }
  std::vector<Layout> image_layouts(Precision precision) const override {
    return cpu().image_layouts(precision);
  }
  std::vector<const Tactic*> tactics(const graph::Node& node) const override {
    static const Tactic kFussy{.name = "fussy", .make = [](const StepRequest&, WeightStore&) {
                                 return Offer::refuse("it takes less");
                               }};
    return takes_(node) ? cpu().tactics(node) : std::vector<const Tactic*>{&kFussy};
  }
  std::shared_ptr<const Kernel> make_reorder(const TensorDesc& from, const TensorDesc& to) const override {
    return cpu().make_reorder(from, to);
  }
  bool computes_in(Precision precision) const override { return cpu().computes_in(precision); }
  std::shared_ptr<const Kernel> make_rounding(std::shared_ptr<const Kernel> kernel,
                                              std::vector<TensorDesc> outputs) const override {
    return cpu().make_rounding(std::move(kernel), std::move(outputs));
  }
  void set_threads(int threads) const override { cpu().set_threads(threads); }
  std::vector<std::string> notes(const NumericPolicy&) const override { return {}; }

 private:
  static const Device& cpu() { return device::cpu::cpu_device(); }

  Takes takes_;
};

bool is_plain(const graph::Node& node) {
  return node.op == "FusedElementwise" || !(node.op.starts_with("Fused") || graph::is_region(node));
}

size_t post_ops(const graph::Node& node) {
  return node.attributes.get_or<std::vector<std::string>>("post_ops", {}).size();
}

std::shared_ptr<const Program> program_of(const graph::Graph& graph, const Device& device,
                                          ProgramOptions options = {}) {
  static WeightStore weights;
  weights = {};
  options.layout = device.image_layouts(precision_of(options.policy)).front();
  return build_program(std::make_shared<const graph::Graph>(graph), device, weights, options);
}

/// "kind by tactic" of each step that is no copy.
std::vector<std::string> steps_of(const Program& program) {
  std::vector<std::string> result;
  for (const ProgramStep& step : program.steps()) {
    if (step.node >= 0) result.push_back(fmt::format("{} by {}", step.kind, step.plan.tactic.text()));
  }
  return result;
}

void expect_right(const graph::Graph& graph, std::shared_ptr<const Program> program, const Device& device) {
  const auto inputs = test::random_inputs(graph, 3, 1);
  const auto expected = reference::run_graph(graph, inputs);
  const auto actual = Execution(program, device).run(inputs);
  // Pieces round what they hand on: one more rounding each.
  const double tolerance = test::rounding_tolerance(graph) * static_cast<double>(program->steps().size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_LE(test::relative_error(actual[i], expected[i]), tolerance) << "output " << i;
}

graph::Graph layer(const test::Epilogue& epilogue) {
  GraphBuilder b;
  return b.finish({test::fused_node(
      b, "FusedGemm", {b.input("x", {4, 24}), b.random({24, 16}), b.random({16})}, 3, {4, 16}, epilogue)});
}

TEST(Dissolving, NothingFusedRunsOnTheHost) {
  const Partial parts(is_plain);
  const Partial short_chains([](const graph::Node& node) { return post_ops(node) < 3; });
  for (const Device* device : {&device::cpu::cpu_device(), static_cast<const Device*>(&parts),
                               static_cast<const Device*>(&short_chains)}) {
    for (const test::FusedForm& form : test::fused_forms()) {
      SCOPED_TRACE(fmt::format("{} on {}", form.name, device->name()));
      const auto program = program_of(form.graph, *device);
      for (const ProgramStep& step : program->steps()) EXPECT_FALSE(step.runs_on_host()) << step.name;
      expect_right(form.graph, program, *device);
    }
  }
}

TEST(Dissolving, TheBaseKeepsAsManyPostOpsAsATacticTakes) {
  const graph::Graph graph = layer({"relu", "add", "hard_swish", "mish"});
  for (const size_t most : {0, 1, 2, 3}) {
    const Partial device([&](const graph::Node& node) { return is_plain(node) || post_ops(node) <= most; });
    const auto program = program_of(graph, device);
    EXPECT_THAT(steps_of(*program),
                ElementsAre(HasSubstr(most == 0 ? "Gemm by" : "FusedGemm by"), "FusedElementwise by chain"));
    std::vector<size_t> counts;
    for (const ProgramStep& step : program->steps()) {
      if (const graph::Node* node = program->node_of(step)) counts.push_back(post_ops(*node));
    }
    EXPECT_THAT(counts, ElementsAre(most, 4 - most));
    expect_right(graph, program, device);
  }
}

TEST(Dissolving, PiecesSayWhatTheyArePiecesOfAndWhy) {
  graph::Graph graph = layer({"hard_swish"});
  graph.nodes[0].name = "fc1 + act1";
  graph.nodes[0].sources = {"fc1", "act1"};
  const Partial device(is_plain);
  const auto program = program_of(graph, device);
  ASSERT_EQ(program->steps().size(), 2u);
  for (int32_t i = 0; i < 2; ++i) {
    const ProgramStep& step = program->steps()[static_cast<size_t>(i)];
    EXPECT_EQ(step.name, fmt::format("fc1 + act1 [{}/2]", i + 1));
    EXPECT_EQ(step.key(), (StepKey{0, {i}}));
    EXPECT_THAT(step.sources, ElementsAre("fc1", "act1"));
    EXPECT_THAT(texts_of(step.whole_refusals), ElementsAre("fussy: it takes less"));
    EXPECT_THAT(step.refusals, IsEmpty());
  }
  EXPECT_THAT(program->dissolved(), ElementsAre(::testing::Key(StepKey{0, {}})));
}

TEST(Dissolving, PiecesAreDissolvedInTurn) {
  for (const test::FusedForm& form : test::fused_forms()) {
    if (form.name != "stem, mish") continue;
    const Partial device(is_plain);
    const auto program = program_of(form.graph, device);
    std::vector<std::string> keys;
    for (const ProgramStep& step : program->steps()) {
      if (step.node >= 0) keys.push_back(step.key().text() + " " + step.kind);
    }
    EXPECT_THAT(keys, ElementsAre("0/0/0/0 Conv", "0/0/0/1 FusedElementwise", "0/0/1 MaxPool", "0/1/0 Conv",
                                  "0/1/1 FusedElementwise"));
    // Once for the whole node and once for a part of it; other tactics of the device refuse the part, too.
    EXPECT_THAT(texts_of(program->steps()[0].refusals),
                ::testing::IsSupersetOf({"fussy: it takes less", "fussy: it takes less"}));
  }
}

TEST(Dissolving, TacticsAreChosenByNodeAndPiece) {
  const graph::Graph graph = layer({"relu"});
  const Partial device([](const graph::Node&) { return true; });
  const auto kinds = [&](const Plans& plans) {
    return steps_of(*program_of(graph, device, {.plans = plans}));
  };
  EXPECT_THAT(kinds({}), ElementsAre("FusedGemm by onednn_inner_product"));
  Plans dissolved = plans_by({std::string(kDissolved)});
  EXPECT_THAT(kinds(dissolved), ElementsAre("Gemm by onednn_inner_product", "FusedElementwise by chain"));
  dissolved[{0, {0}}] = {.tactic = {"reference", {}}};
  EXPECT_THAT(kinds(dissolved), ElementsAre("Gemm by reference", "FusedElementwise by chain"));
  EXPECT_THAT(kinds(plans_by({"reference"})), ElementsAre("FusedGemm by reference"));
}

TEST(Dissolving, ANodeThatIsNotFusedIsNotDissolved) {
  GraphBuilder b;
  const graph::Graph graph = b.finish({b.node("Relu", {b.input("x", {4})})});
  const Plans plans = plans_by({std::string(kDissolved)});
  EXPECT_THAT(steps_of(*program_of(graph, device::cpu::cpu_device(), {.plans = plans})),
              ElementsAre("Relu by chain"));
}

/// If the device has no tactic at all for a node, taking it apart gains nothing.
TEST(Dissolving, OnlyTheBaseThatTheDeviceLacksRunsOnTheHost) {
  const graph::Graph graph = layer({"relu", "mish"});
  const Partial chains([](const graph::Node& node) { return node.op == "FusedElementwise"; });
  EXPECT_THAT(steps_of(*program_of(graph, chains)),
              ElementsAre("MatMul by reference", "FusedElementwise by chain"));
  const Partial nothing([](const graph::Node&) { return false; });
  EXPECT_THAT(steps_of(*program_of(graph, nothing)), ElementsAre("FusedGemm by reference"));
}

TEST(Dissolving, ADissolvedNodeIsOneCandidateOfASearch) {
  const Partial device(is_plain);
  const auto program = program_of(layer({"hard_swish"}), device, {.list_candidates = true});
  ASSERT_EQ(program->steps().size(), 2u);
  for (const ProgramStep& step : program->steps())
    EXPECT_THAT(texts_of(step.whole_refusals), ElementsAre("fussy: it takes less"));
  EXPECT_THAT(program->dissolved(), ElementsAre(::testing::Key(StepKey{0, {}})));
  EXPECT_THAT(program->steps()[0].candidates, ::testing::Contains(TacticId{"onednn_inner_product", {}}));
}

}  // namespace
}  // namespace hone::engine
