// docs/OPERATORS.md is what the operator table and the importer's expansions say.
#include "graph/operator_doc.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "import/onnx/expand/expansion.hpp"

namespace hone::graph {
namespace {

TEST(OperatorDoc, IsUpToDate) {
  std::ifstream file(HONE_SOURCE_DIR "/docs/OPERATORS.md");
  std::stringstream content;
  content << file.rdbuf();
  EXPECT_TRUE(content.str() == operators_markdown() + importer::expansions_markdown())
      << "write it anew: hone ops --markdown > docs/OPERATORS.md";
}

TEST(OperatorDoc, NamesDefaultsAndArity) {
  EXPECT_EQ(count_text(2, 2), "2");
  EXPECT_EQ(count_text(1, 3), "1 to 3");
  EXPECT_EQ(count_text(1, OperatorDef::kVariadic), "1 or more");
  EXPECT_EQ(attribute_text(*find_operator("Cast")->find_attribute("to")), "to: int, required");
  EXPECT_EQ(attribute_text(*find_operator("Transpose")->find_attribute("perm")), "perm: ints, optional");
  EXPECT_EQ(attribute_text(*find_operator("LeakyRelu")->find_attribute("alpha")), "alpha: float = 0.01");
  EXPECT_EQ(attribute_text(*find_operator("Pad")->find_attribute("mode")), "mode: string = \"constant\"");
}

}  // namespace
}  // namespace hone::graph
