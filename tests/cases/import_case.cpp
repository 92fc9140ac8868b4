// Cases of importers: see run_case.hpp.
#include <gtest/gtest.h>

#include <string>

#include "cases/run_case.hpp"
#include "graph/text/parser.hpp"
#include "graph/text/printer.hpp"
#include "import/onnx_text.hpp"

namespace hone::test {

void run_import_case(const Case& test) {
  if (test.get("import") != "onnx") test.fail("there is no importer of " + test.get("import"));
  if (!test.has("opset")) test.fail("it has no line 'opset: ...'");
  const int opset = std::stoi(test.get("opset"));
  const std::string& text = test.need("onnx").text;
  if (test.has("error")) {
    EXPECT_EQ(importer::refusal(importer::model_bytes(opset, text)), test.get("error"));
    return;
  }
  const CaseSection& section = test.need("graph");
  const bool empty = section.begin == section.end;
  const graph::Graph expected = empty ? graph::Graph() : graph::parse_graph(section.padded());
  const graph::Graph actual = importer::import_text(opset, text);
  compare_text(test, section, graph::print_graph(expected), graph::print_graph(actual));
}

}  // namespace hone::test
