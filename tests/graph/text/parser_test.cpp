// The parser of graphs: graphs that it makes, and sentences of its refusals.
#include "graph/text/parser.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.hpp"
#include "graph/text/printer.hpp"
#include "support/graph_builder.hpp"

namespace hone::test {
namespace {

using graph::parse_graph;

TEST(ParseGraph, TakesCommentsAndAnyBlanks) {
  const Graph graph = parse_graph(
      "# a comment\n"
      "graph(%x:float32[2])->(%y){// another\n"
      "%y=Relu(\n%x)}\t# the end");
  EXPECT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.name, "");
}

TEST(ParseGraph, CompletesNodesAndInfersTypes) {
  const Graph graph = parse_graph(
      "graph (%x: float32[N, 3, 8, 8]) -> (%y) {"
      "  %w = const float32[4, 3, 3, 3] fill(0.5)"
      "  %y = Conv(%x, %w) }");
  EXPECT_EQ(graph.nodes[0].attributes.get_int("group"), 1);
  EXPECT_EQ(graph.value(graph.outputs[0]).type.text(), "float32[Nx4x6x6]");
}

TEST(ParseGraph, TakesTypesAsDeclaredWhereInferenceKnowsLess) {
  const Graph graph =
      parse_graph("graph (%x: float32[2, 3], %s: int64[2]) -> (%y) { %y = Reshape(%x, %s) : float32[N, 2] }");
  EXPECT_EQ(graph.value(graph.outputs[0]).type.text(), "float32[Nx2]");
}

TEST(ParseGraph, FillsConstantsAsTheTextDescribes) {
  const Graph graph = parse_graph(
      "graph () -> (%a, %b, %c, %d, %e) {"
      "  %a = const float16[2, 2] fill(-1.5)"
      "  %b = const float32[1000] seeded(1)"
      "  %c = const uint8[100] seeded(1)"
      "  %d = const bool[] true"
      "  %e = const int32[3] ... }",
      {.elided_fill = 7.9});
  const auto elements = [&](size_t i) { return graph.constant(graph.outputs[i])->to_double(); };
  EXPECT_EQ(elements(0), std::vector<double>(4, -1.5));
  double sum = 0;
  double squares = 0;
  for (const double element : elements(1)) {
    sum += element;
    squares += element * element;
  }
  // The mean of 1000 numbers of variance 1 has a standard deviation of 0.03, the mean of their squares one of
  // 0.045.
  EXPECT_NEAR(sum / 1000, 0, 0.15);
  EXPECT_NEAR(squares / 1000, 1, 0.2);
  EXPECT_GT(elements(2), std::vector<double>(100, 0));
  EXPECT_EQ(elements(3), std::vector<double>{1});
  EXPECT_EQ(elements(4), std::vector<double>(3, 7));
}

TEST(ParseGraph, KeepsElidedConstantsWithoutTheirBytesIfTold) {
  const std::string text = "graph () -> (%a) {\n  %a = const float32[1000, 1000, 1000] ...\n}\n";
  const Graph graph = parse_graph(text, {.keep_elided = true, .max_described_bytes = 0});
  EXPECT_EQ(graph.constant(graph.outputs[0]), nullptr);
  EXPECT_EQ(graph::print_graph(graph), text);
}

TEST(ParseGraph, SeedsTheSameNumbersOnEveryMachine) {
  const Graph graph = parse_graph("graph () -> (%a) { %a = const float32[3] seeded(1) }");
  EXPECT_EQ(graph::print_graph(graph),
            "graph () -> (%a) {\n  %a = const float32[3] [1.4243481, -0.61890423, -0.5907667]\n}\n");
}

struct Refusal {
  const char* name;
  std::string text;
  const char* sentence;

  friend void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.text; }
};

class RefusedText : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedText, SaysWhereAndWhy) {
  try {
    parse_graph(GetParam().text, {.max_described_bytes = 1000});
    FAIL() << "the text was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_STREQ(error.what(), GetParam().sentence);
  }
}

std::string refusal_name(const testing::TestParamInfo<Refusal>& info) { return info.param.name; }

/// A graph of one input with this body.
std::string body(const std::string& text) { return "graph (%x: float32[2]) -> () {\n" + text + "\n}"; }

INSTANTIATE_TEST_SUITE_P(
    Tokens, RefusedText,
    testing::Values(
        Refusal{"nothing", "", "line 1, column 1: 'graph' is expected, not the end of the text"},
        Refusal{"character", "graph @", "line 1, column 7: character '@' begins nothing"},
        Refusal{"foreign_character", "graph ü", "line 1, column 7: character 'ü' begins nothing"},
        Refusal{"columns_count_characters", "graph \"ü\" (%ö)",
                "line 1, column 12: a name is expected after %"},
        Refusal{"open_string", "graph \"a\n\"",
                "line 1, column 7: this string has no closing quote in its line"},
        Refusal{"escape", "graph \"\\q\"",
                "line 1, column 7: this string has an unknown escape: known are \\n \\t \\r \\\" \\\\ \\x1b"},
        Refusal{"short_escape", "graph \"\\x1",
                "line 1, column 7: this string has an unknown escape: known are \\n \\t "
                "\\r \\\" \\\\ \\x1b"},
        Refusal{"empty_name", "graph (%\"\")", "line 1, column 8: a name is expected after %"},
        Refusal{"end", "graph (%x: float32[2]) -> () {",
                "line 1, column 31: a result is expected, not the end of the text"},
        Refusal{"more", body("") + " graph", "line 3, column 3: the graph has ended, and 'graph' follows"}),
    refusal_name);

INSTANTIATE_TEST_SUITE_P(
    Types, RefusedText,
    testing::Values(
        Refusal{"element_type", "graph (%x: float8[2])",
                "line 1, column 12: element type 'float8' is not known"},
        Refusal{"negative", "graph (%x: float32[-2])", "line 1, column 20: dimension -2 is negative"},
        Refusal{"dimension", "graph (%x: float32[=])", "line 1, column 20: a dimension is expected, not '='"},
        Refusal{"large_dimension", "graph (%x: float32[99999999999999999999])",
                "line 1, column 20: 99999999999999999999 is out of the range of int64"},
        Refusal{"open_constant", body("%c = const float32[N] fill(0)"),
                "line 2, column 12: the shape of a constant has to be known, and this is float32[N]"},
        Refusal{"string_constant", body("%c = const string[1] [\"a\"]"),
                "line 2, column 12: a constant cannot be of string"},
        Refusal{"contradiction", body("%y = Relu(%x) : float32[3]"),
                "line 2, column 6: node 'y' (Relu): output 0 is inferred as float32[2] but declared as "
                "float32[3]"},
        Refusal{"types_of_results", body("%y = Relu(%x) : float32[2], float32[2]"),
                "line 2, column 27: a result is expected, not ','"}),
    refusal_name);

INSTANTIATE_TEST_SUITE_P(
    Constants, RefusedText,
    testing::Values(
        Refusal{"count", body("%c = const float32[3] [1, 2]"),
                "line 2, column 23: 2 elements for shape 3, which has 3"},
        Refusal{"number", body("%c = const float32[1] [1.5.2]"),
                "line 2, column 24: '1.5.2' is no number of type float32"},
        Refusal{"fraction", body("%c = const int64[1] [1.5]"),
                "line 2, column 22: '1.5' is no number of type int64"},
        Refusal{"string", body("%c = const int64[1] [\"1\"]"),
                "line 2, column 22: a number is expected, not '1'"},
        Refusal{"byte", body("%c = const uint8[1] [256]"),
                "line 2, column 22: 256 is out of the range of uint8"},
        Refusal{"half", body("%c = const float16[1] [1e6]"),
                "line 2, column 24: 1e6 is out of the range of float16"},
        Refusal{"bool", body("%c = const bool[1] [1]"),
                "line 2, column 21: true or false is expected, not '1'"},
        Refusal{"elided", body("%c = const float32[64] ... crc32(0x00000000)"),
                "line 2, column 24: the elements of this constant were left out when the text was written"},
        Refusal{"memory", body("%a = const float32[200] fill(0) %c = const float32[100] seeded(1)"),
                "line 2, column 57: this constant takes 400 bytes, and 200 are left for those that the text "
                "does not "
                "spell out"},
        Refusal{"overflow", body("%c = const float32[4294967296, 4294967296] fill(0)"),
                "line 2, column 12: size 4294967296 x 4294967296 overflows"},
        Refusal{"two_results", body("%a, %b = const float32[] 1"),
                "line 2, column 1: a constant has one result with a name"}),
    refusal_name);

INSTANTIATE_TEST_SUITE_P(
    Nodes, RefusedText,
    testing::Values(
        Refusal{"operator", body("%y = Frob(%x)"), "line 2, column 6: operator 'Frob' is not known"},
        Refusal{"attribute", body("%y = Relu(%x) {alpha = 1}"),
                "line 2, column 16: Relu has no attribute 'alpha'"},
        Refusal{"attribute_twice", body("%y = LeakyRelu(%x) {alpha = 1, alpha = 1}"),
                "line 2, column 32: attribute 'alpha' is there twice"},
        Refusal{"attribute_kind", body("%y = Transpose(%x) {perm = 0}"),
                "line 2, column 28: '[' is expected, not '0'"},
        Refusal{"required_attribute", body("%y = Cast(%x)"),
                "line 2, column 6: node 'y' (Cast): required attribute 'to' is missing"},
        Refusal{"operands", body("%y = Relu(%x, %x)"),
                "line 2, column 6: node 'y' (Relu): 2 inputs, expected 1 to 1"},
        Refusal{"undefined", body("%y = Relu(%z)"),
                "line 2, column 11: value '%z' is not defined before this"},
        Refusal{"itself", body("%y = Relu(%y)"), "line 2, column 11: value '%y' is not defined before this"},
        Refusal{"twice", body("%x = Relu(%x)"), "line 2, column 1: value '%x' is defined twice"},
        Refusal{"output", "graph () -> (%y) {}",
                "line 1, column 14: output '%y' is defined nowhere in the graph"},
        Refusal{"shapes", "graph (%a: float32[2], %b: float32[3]) -> (%y) { %y = Add(%a, %b) }",
                "line 1, column 55: node 'y' (Add): shapes 2 and 3 do not broadcast"}),
    refusal_name);

std::string nested(int depth) {
  if (depth == 0) return "graph () -> (%k) { %k = const float32[] 1 }";
  return "graph () -> (%y) { %c = const bool[] true %y = If(%c) {then_branch = " + nested(depth - 1) +
         ", else_branch = graph () -> (%k) { %k = const float32[] 1 }} }";
}

INSTANTIATE_TEST_SUITE_P(Graphs, RefusedText,
                         testing::Values(Refusal{"capture",
                                                 "graph (%c: bool[], %x: float32[2]) -> (%y) {\n"
                                                 "  %y = If(%c) {then_branch = graph () -> (%t) { %t = "
                                                 "Relu(%x) }, else_branch = graph () -> () {}}\n}",
                                                 "line 2, column 59: value '%x' is not defined in this "
                                                 "graph, which sees its own inputs and nothing "
                                                 "outside"},
                                         Refusal{"depth", nested(9),
                                                 "line 1, column 622: graphs are nested deeper than 8"}),
                         refusal_name);

TEST(ParseGraph, TakesGraphsAsDeepAsTheLimit) { EXPECT_EQ(parse_graph(nested(8)).nodes.size(), 1u); }

TEST(ParseGraph, TakesTheSeedsOfItsFuzzTarget) {
  for (const auto& entry : std::filesystem::directory_iterator(HONE_SOURCE_DIR "/fuzz/corpus/graph_text")) {
    const std::string text = base::read_file(entry.path());
    if (text.empty()) continue;
    EXPECT_NO_THROW(parse_graph(text, {.elided_fill = 0})) << entry.path();
  }
}

TEST(ParseGraph, RefusesATextBeyondTheLimit) {
  EXPECT_THROW(parse_graph(std::string((size_t{64} << 20) + 1, ' ')), Error);
}

}  // namespace
}  // namespace hone::test
