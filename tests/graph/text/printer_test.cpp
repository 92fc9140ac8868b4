// The text of graphs: its exact form, and that the parser reads the same graph back.
#include "graph/text/printer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph/text/parser.hpp"
#include "import/load.hpp"
#include "support/graph_builder.hpp"
#include "support/same_graph.hpp"
#include "transform/pass.hpp"

namespace hone::test {
namespace {

using graph::parse_graph;
using graph::print_graph;

/// Every element is spelled out.
const graph::PrintOptions kWhole{.elements = {.most_elements = 1 << 20}};

void expect_round_trip(const Graph& graph) {
  const std::string text = print_graph(graph, kWhole);
  EXPECT_EQ(graph_difference(graph, parse_graph(text)), "") << text;
}

TEST(PrintGraph, ReadsLikeAnyOtherTextOfAGraph) {
  const std::string text =
      "graph \"net\" (%x: float32[N, 3, 8, 8]) -> (%y) {\n"
      "  %w = const float32[4, 3, 3, 3] ... crc32(0x0cce7e73)\n"
      "  %b = const float32[4] [0.5, 0, -1, 2]\n"
      "  %c = Conv(%x, %w, %b) {pads = [1, 1, 1, 1]} : float32[N, 4, 8, 8] name \"conv1\"\n"
      "  %y = Relu(%c) : float32[N, 4, 8, 8]\n"
      "}\n";
  const Graph graph = parse_graph(
      "graph \"net\" (%x: float32[N, 3, 8, 8]) -> (%y) {"
      "  %w = const float32[4, 3, 3, 3] seeded(1)"
      "  %b = const float32[4] [0.5, 0, -1, 2]"
      "  %c = Conv(%x, %w, %b) {pads = [1, 1, 1, 1]} name \"conv1\""
      "  %y = Relu(%c)"
      "}");
  EXPECT_EQ(print_graph(graph), text);
  expect_round_trip(graph);
}

TEST(PrintGraph, LeavesOutAttributesThatHaveTheirDefault) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3});
  b.node("LeakyRelu", {x}, {{"alpha", 0.01f}});
  b.node("LeakyRelu", {x}, {{"alpha", -0.0f}});
  b.node("Softmax", {x}, {{"axis", int64_t{0}}});
  const std::string text = print_graph(b.finish({b.node("Relu", {x})}));
  EXPECT_NE(text.find("%v1 = LeakyRelu(%x) :"), std::string::npos) << text;
  EXPECT_NE(text.find("%v2 = LeakyRelu(%x) {alpha = -0} :"), std::string::npos) << text;
  EXPECT_NE(text.find("%v3 = Softmax(%x) {axis = 0} :"), std::string::npos) << text;
}

TEST(PrintGraph, SpellsTypesOfEveryKind) {
  Graph graph;
  const auto input = [&](const char* name, graph::TensorType type) {
    graph.inputs.push_back(graph.add_value(name, std::move(type)));
  };
  input("scalar", {DType::kBool, Dims{}});
  input("unranked", {DType::kInt8, std::nullopt});
  input("open", {DType::kFloat16, Dims{Dim(), Dim::symbol("N"), Dim::symbol("past + 1"), 0}});
  input("untyped", {});
  input("ranked", {DType::kUndefined, Dims{2}});
  input("text", {DType::kString, Dims{1}});
  EXPECT_EQ(print_graph(graph),
            "graph (%scalar: bool[], %unranked: int8[*], %open: float16[?, N, \"past + 1\", 0], %untyped, "
            "%ranked: undefined[2], %text: string[1]) -> () {\n}\n");
  expect_round_trip(graph);
}

TEST(PrintGraph, QuotesNamesThatNeedIt) {
  Graph graph;
  graph.name = "a \"b\"\\\n\x01\x7f\xc2\x9b\xc3\xa9";
  for (const char* name : {"/conv1/Conv_output_0", "onnx::Conv_1", "a//b", "-", "ü", "a b"})
    graph.inputs.push_back(graph.add_value(name, {DType::kInt64, Dims{}}));
  EXPECT_EQ(
      print_graph(graph),
      "graph \"a \\\"b\\\"\\\\\\n\\x01\\x7f\\xc2\\x9b\xc3\xa9\" (%/conv1/Conv_output_0: int64[], "
      "%\"onnx::Conv_1\": int64[], %\"a//b\": int64[], %\"-\": int64[], %\"ü\": int64[], %\"a b\": int64[]) "
      "-> () {\n}\n");
  expect_round_trip(graph);
}

TEST(PrintGraph, GivesNamesToValuesThatHaveNone) {
  Graph graph;
  for (const char* name : {"x", "x", "", "x#1"})
    graph.inputs.push_back(graph.add_value(name, {DType::kInt64, Dims{}}));
  EXPECT_EQ(print_graph(graph),
            "graph (%x: int64[], %\"x#1#\": int64[], %\"#2\": int64[], %\"x#1\": int64[]) -> () {\n}\n");
}

TEST(PrintGraph, ShowsAbsentOperandsAndResults) {
  const std::string text =
      "graph (%x: float32[2, 4], %hi: float32[]) -> (%y, %m, %x) {\n"
      "  %y = Clip(%x, _, %hi) : float32[2, 4]\n"
      "  %w = const float32[1, 8, 4] fill(1)\n"
      "  %r = const float32[1, 8, 2] fill(2)\n"
      "  %s = Unsqueeze(%y, %axis) : float32[1, 2, 4]\n"
      "  _, %m = LSTM(%s, %w, %r) {hidden_size = 2} : _, float32[1, 2, 2]\n"
      "}\n";
  const size_t use = text.find("  %s =");
  const std::string whole = text.substr(0, use) + "  %axis = const int64[1] [0]\n" + text.substr(use);
  const Graph graph = parse_graph(whole);
  EXPECT_EQ(graph.nodes[2].outputs[0], kNoValue);
  EXPECT_EQ(graph.nodes[2].name, "m");
  EXPECT_NE(print_graph(graph).find("Clip(%x, _, %hi)"), std::string::npos);
  EXPECT_NE(print_graph(graph).find("_, %m = LSTM(%s, %w, %r) {hidden_size = 2} : _, float32[1, 2, 2]"),
            std::string::npos)
      << print_graph(graph);
  expect_round_trip(graph);
}

TEST(PrintGraph, ShowsNamesAndSourcesThatDoNotFollow) {
  const std::string text =
      "graph (%x: float32[2]) -> (%e) {\n"
      "  %a = Relu(%x) : float32[2]\n"
      "  %b = Relu(%a) : float32[2] name \"relu\"\n"
      "  %c = Relu(%b) : float32[2] from [\"p\", \"q\"]\n"
      "  %d = Relu(%c) : float32[2] name \"r\" from [\"p\", \"q\"]\n"
      "  %e = Relu(%d) : float32[2] name \"\" from []\n"
      "}\n";
  const Graph graph = parse_graph(text);
  EXPECT_EQ(print_graph(graph), text);
  EXPECT_EQ(graph.nodes[0].name, "a");
  EXPECT_EQ(graph.nodes[0].sources, std::vector<std::string>{"a"});
  EXPECT_EQ(graph.nodes[1].sources, std::vector<std::string>{"relu"});
  EXPECT_EQ(graph.nodes[2].name, "p + q");
}

TEST(PrintGraph, IndentsTheGraphsInsideOfNodes) {
  const std::string text =
      "graph (%c: bool[], %x: float32[2]) -> (%y) {\n"
      "  %y = If(%c, %x) {\n"
      "    then_branch = graph \"t\" (%a: float32[2]) -> (%b) {\n"
      "      %b = Relu(%a) : float32[2]\n"
      "    },\n"
      "    else_branch = graph (%a: float32[2]) -> (%k) {\n"
      "      %k = const float32[2] [1, 2]\n"
      "    },\n"
      "    num_captures = 1\n"
      "  } : float32[2]\n"
      "}\n";
  EXPECT_EQ(print_graph(parse_graph(text)), text);
}

TEST(PrintGraph, ShowsUnusedConstantsUnlessToldOtherwise) {
  const std::string text =
      "graph (%x: float32[2]) -> (%y) {\n  %k = const int64[] 7\n  %y = Relu(%x) : float32[2]\n}\n";
  EXPECT_EQ(print_graph(parse_graph(text)), text);
  EXPECT_EQ(print_graph(parse_graph(text), {.unused_constants = false}).find("%k"), std::string::npos);
}

TEST(PrintGraph, ElidesConstantsWithoutBytes) {
  Graph graph;
  graph.outputs.push_back(graph.add_constant("w", Tensor(DType::kFloat32, {8, 8}, nullptr, nullptr)));
  graph.outputs.push_back(graph.add_constant("e", Tensor(DType::kFloat32, {0, 2}, nullptr, nullptr)));
  EXPECT_EQ(print_graph(graph),
            "graph () -> (%w, %e) {\n  %w = const float32[8, 8] ...\n  %e = const float32[0, 2] []\n}\n");
}

template <class T>
void add_constant(Graph& graph, const std::vector<T>& values) {
  const auto count = static_cast<int64_t>(values.size());
  graph.outputs.push_back(
      graph.add_constant(std::to_string(graph.values.size()), Tensor::of<T>(values, {count})));
}

template <class T>
void add_limits(Graph& graph) {
  using Limits = std::numeric_limits<T>;
  add_constant<T>(graph, {Limits::lowest(), Limits::max(), T{0}, T{1}});
}

TEST(PrintGraph, KeepsEveryNumberOfEveryType) {
  Graph graph;
  add_limits<int8_t>(graph);
  add_limits<int16_t>(graph);
  add_limits<int32_t>(graph);
  add_limits<int64_t>(graph);
  add_limits<uint8_t>(graph);
  add_limits<uint16_t>(graph);
  add_limits<uint32_t>(graph);
  add_limits<uint64_t>(graph);
  add_limits<float>(graph);
  add_limits<double>(graph);
  add_constant<bool>(graph, {true, false});
  add_constant<float>(graph, {-0.0f, 0.1f, 1e-45f, 1.17549435e-38f, -INFINITY, INFINITY, NAN, 16777216.0f});
  add_constant<double>(graph, {0.1, 5e-324, -0.0, INFINITY, NAN, 1e300});
  add_constant<tensor::Half>(graph, {0.1f, 65504.0f, 6e-8f, -INFINITY, NAN, -0.0f});
  add_constant<tensor::BFloat16>(graph, {0.1f, 3e38f, 1e-40f, INFINITY, NAN, -0.0f});
  expect_round_trip(graph);
}

TEST(PrintGraph, KeepsEveryBitOfRandomNumbers) {
  Graph graph;
  std::mt19937_64 generator(7);
  std::vector<float> floats;
  std::vector<double> doubles;
  while (floats.size() < 2000) {
    const uint64_t bits = generator();
    const auto narrow = std::bit_cast<float>(static_cast<uint32_t>(bits));
    const auto wide = std::bit_cast<double>(bits);
    if (!std::isnan(narrow)) floats.push_back(narrow);
    if (!std::isnan(wide)) doubles.push_back(wide);
  }
  add_constant(graph, floats);
  add_constant(graph, doubles);
  expect_round_trip(graph);
}

TEST(PrintGraph, KeepsAttributesOfEveryKind) {
  const std::string text =
      "graph (%x: float32[2]) -> (%a, %b, %c, %d) {\n"
      "  %s = const int64[1] [3]\n"
      "  %a = ConstantOfShape(%s) {value = float16[1] [0.5]} : float16[3]\n"
      "  %b = FusedElementwise(%x) {post_ops = [\"clip\", \"relu\"], post_alphas = [-1, 0], post_betas = "
      "[inf, 0]} : "
      "float32[2]\n"
      "  %c = Transpose(%x) {perm = [0]} : float32[2]\n"
      "  %d = Gelu(%x) {approximate = \"tanh\"} : float32[2]\n"
      "}\n";
  EXPECT_EQ(print_graph(parse_graph(text)), text);
}

TEST(PrintGraph, RoundTripsWholeModelsAndWhatPassesMakeOfThem) {
  for (const char* name : {"squeezenet1_1", "mobilenet_v2"}) {
    Graph model = *importer::load_model(name).graph;
    for (const bool optimized : {false, true}) {
      if (optimized) transform::optimize(model);
      const std::string text =
          print_graph(model, {.elements = {.checksum = false}, .unused_constants = false});
      const Graph parsed = parse_graph(text, {.elided_fill = 0.5});
      EXPECT_EQ(parsed.nodes.size(), model.nodes.size());
      // The fill shows where weights were left out.
      const std::string again = print_graph(parsed, {.elements = {.most_elements = 16}});
      EXPECT_EQ(std::count(again.begin(), again.end(), '\n'), std::count(text.begin(), text.end(), '\n'));
    }
  }
}

}  // namespace
}  // namespace hone::test
