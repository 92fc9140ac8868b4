// Cases of passes: see run_case.hpp.
#include <algorithm>
#include <set>

#include "cases/case_passes.hpp"
#include "cases/line_diff.hpp"
#include "cases/run_case.hpp"
#include "graph/text/parser.hpp"
#include "graph/text/printer.hpp"
#include "support/equivalence.hpp"
#include "transform/pass.hpp"

namespace hone::test {
namespace {

using transform::Summary;

/// The outputs tell whether elements of large constants are right.
constexpr graph::PrintOptions kPrinting{.elements = {.checksum = false}, .unused_constants = false};

/// Values that nodes and constants give, in the order of the text, but for the graph's own outputs.
std::vector<ValueId> inner_values(const Graph& graph) {
  std::set<ValueId> seen(graph.inputs.begin(), graph.inputs.end());
  seen.insert(graph.outputs.begin(), graph.outputs.end());
  seen.insert(kNoValue);
  std::vector<ValueId> result;
  for (const Node& node : graph.nodes) {
    for (const auto* ids : {&node.inputs, &node.outputs}) {
      for (const ValueId id : *ids) {
        if (seen.insert(id).second) result.push_back(id);
      }
    }
  }
  return result;
}

/// The graph's text, its inner values called as those of `model`: passes number the names of new ones, which
/// says nothing. With its own names where the graphs differ in more than that.
std::string text_like(const Graph& graph, const Graph& model) {
  Graph renamed = graph;
  const std::vector<ValueId> own = inner_values(graph);
  const std::vector<ValueId> others = inner_values(model);
  for (size_t i = 0; i < own.size() && own.size() == others.size(); ++i)
    renamed.value(own[i]).name = model.value(others[i]).name;
  const std::string text = graph::print_graph(renamed, kPrinting);
  return text == graph::print_graph(model, kPrinting) ? text : graph::print_graph(graph, kPrinting);
}

bool contains(const std::vector<std::string>& lines, const std::string& text) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

/// Notes and refusals that the case names, each in one of the passes' lines.
void check_lines(const Case& test, const std::vector<Summary>& summaries) {
  std::vector<std::string> notes;
  std::vector<std::string> refusals;
  for (const Summary& summary : summaries) {
    notes.insert(notes.end(), summary.notes.begin(), summary.notes.end());
    refusals.insert(refusals.end(), summary.refusals.begin(), summary.refusals.end());
  }
  for (const std::string& text : test.all("note"))
    EXPECT_TRUE(contains(notes, text))
        << "no note says: " << text << "\nthe notes:\n  " << fmt::format("{}", fmt::join(notes, "\n  "));
  for (const std::string& text : test.all("refused"))
    EXPECT_TRUE(contains(refusals, text)) << "no refusal says: " << text << "\nthe refusals:\n  "
                                          << fmt::format("{}", fmt::join(refusals, "\n  "));
}

/// Floating numbers between -2 and 2, whole ones between -10 and 10, true and false.
Tensor random_input(DType dtype, const Shape& shape, uint32_t seed) {
  if (dtype == DType::kBool) return random_tensor(shape, seed, -2, 2).cast(DType::kInt8).cast(dtype);
  const double most = tensor::is_integer(dtype) ? 10 : 2;
  return random_tensor(shape, seed, -most, most).cast(dtype);
}

/// Inputs of the graph; bad input when the case does not say enough to make one.
std::vector<Tensor> inputs_of(const Case& test, const Graph& graph, int64_t open_size) {
  const auto symbols = test.symbols();
  const auto shapes = test.shapes();
  std::vector<Tensor> inputs;
  uint32_t seed = 0;
  for (const ValueId id : graph.inputs) {
    const graph::Value& input = graph.value(id);
    Shape shape;
    if (const auto given = shapes.find(input.name); given != shapes.end()) {
      shape = given->second;
    } else if (!input.type.ranked()) {
      test.fail(fmt::format("'{}' has no rank: a line 'shape: {} = ...' is needed", input.name, input.name));
    } else {
      for (const Dim& dim : *input.type.dims) {
        const auto size = symbols.find(dim.symbol());
        shape.push_back(dim.known() ? dim.value() : size != symbols.end() ? size->second : open_size);
      }
    }
    inputs.push_back(random_input(input.type.dtype, shape, ++seed));
  }
  return inputs;
}

/// The spacing of the coarsest type of the graph near 1, at least float32's: a pass may keep computed values
/// in float32.
double roundoff(const Graph& graph) {
  double result = std::numeric_limits<float>::epsilon();
  for (const graph::Value& value : graph.values) {
    if (value.type.dtype == DType::kFloat16) result = std::max(result, 0x1p-10);
    if (value.type.dtype == DType::kBFloat16) result = std::max(result, 0x1p-7);
  }
  return result;
}

bool says_something(const Tensor& output) {
  const auto elements = output.to_double();
  return std::any_of(elements.begin(), elements.end(),
                     [](double element) { return element != 0 && std::isfinite(element); });
}

void check_outputs(const Case& test, const Graph& before, const Graph& after) {
  // As rounding_tolerance has it: 16 units in the last place a node.
  const double tolerance = 16.0 * static_cast<double>(before.nodes.size() + 1) * roundoff(before);
  ASSERT_EQ(before.outputs.size(), after.outputs.size());
  bool compared = false;
  for (const int64_t open_size : {1, 3}) {
    const auto inputs = inputs_of(test, before, open_size);
    const auto expected = reference::run_graph(before, inputs);
    const auto actual = reference::run_graph(after, inputs);
    compared = compared || std::any_of(expected.begin(), expected.end(), says_something);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_LE(relative_error(actual[i], expected[i]), tolerance)
          << "output " << i << " differs for open dimensions of " << open_size;
    }
  }
  EXPECT_TRUE(compared) << "outputs of zeros and NaN are the same whatever a pass does";
}

void check_second_run(const Case& test, const Graph& after) {
  Graph again = after;
  for (const Summary& summary : apply_passes(test, again)) {
    EXPECT_EQ(summary.changes, 0) << "a second run of " << summary.name << " changes something: "
                                  << (summary.notes.empty() ? "" : summary.notes[0]);
  }
}

}  // namespace

void compare_text(const Case& test, const CaseSection& section, const std::string& expected,
                  const std::string& actual) {
  if (expected == actual) return;
  if (CaseWriter::get().wanted() && section.name != "unchanged")
    return CaseWriter::get().replace(test, section, actual);
  ADD_FAILURE() << "the graph is not the expected one (- expected, + actual):\n"
                << line_diff(expected, actual);
}

void run_pass_case(const Case& test) {
  if (test.passes().empty() && !test.has("optimize")) test.fail("it names no pass");
  const Graph before = graph::parse_graph(test.need("before").padded());
  Graph after = before;
  const std::vector<Summary> summaries = apply_passes(test, after);
  if (const CaseSection* same = test.section("unchanged")) {
    compare_text(test, *same, graph::print_graph(before, kPrinting), text_like(after, before));
  } else {
    const CaseSection& section = test.need("after");
    const bool empty = section.begin == section.end;
    const Graph expected = empty ? Graph() : graph::parse_graph(section.padded(), {.keep_elided = true});
    compare_text(test, section, graph::print_graph(expected, kPrinting), text_like(after, expected));
  }
  check_lines(test, summaries);
  check_second_run(test, after);
  check_outputs(test, before, after);
}

}  // namespace hone::test
