// The list as a whole: names, switching off, summaries.
#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "support/passes.hpp"

namespace hone::test {
namespace {

TEST(Optimizer, UnknownPassIsAUsageErrorThatListsTheNames) {
  Graph graph;
  try {
    transform::optimize(graph, {.disabled = {"constant_foldings"}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    const std::string text = error.what();
    EXPECT_NE(text.find("'constant_foldings'"), std::string::npos);
    for (const std::string& name : transform::pass_names())
      EXPECT_NE(text.find(name), std::string::npos) << name;
  }
}

TEST(Optimizer, RequestingWhatIsNoPassOnRequestIsAnInternalError) {
  for (const char* name : {"pool_fusions", "dead_code"}) {
    Graph graph;
    try {
      transform::optimize(graph, {.requested = {name}});
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInternal) << name;
    }
  }
}

TEST(Optimizer, SummarisesEnabledPassesInOrder) {
  GraphBuilder b;
  Graph graph = b.finish({b.node("Relu", {b.input("x", {1})})});
  const auto summaries = transform::optimize(graph, {.disabled = {"dead_code"}});
  auto names = transform::pass_names();
  std::erase(names, "dead_code");
  std::erase_if(names, [](const std::string& name) {
    return std::any_of(transform::passes().begin(), transform::passes().end(),
                       [&](const transform::Pass& pass) { return pass.name == name && pass.on_request; });
  });
  ASSERT_EQ(summaries.size(), names.size());
  for (size_t i = 0; i < names.size(); ++i) EXPECT_EQ(summaries[i].name, names[i]);
}

TEST(Optimizer, EveryPassHasAnOwnNameAndADescription) {
  auto names = transform::pass_names();
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  for (const transform::Pass& pass : transform::passes())
    EXPECT_GT(pass.description.size(), 20u) << pass.name;
}

TEST(Optimizer, DocumentationListsThePassesInOrder) {
  std::ifstream file(HONE_SOURCE_DIR "/docs/PASSES.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  size_t position = 0;
  for (const std::string& name : transform::pass_names()) {
    position = text.find("\n| `" + name + "` |", position);
    ASSERT_NE(position, std::string::npos) << name;
  }
}

TEST(Optimizer, SummaryKeepsTheFirstLinesAndCountsAll) {
  transform::Summary summary;
  for (int i = 0; i < 1000; ++i) summary.change("x");
  EXPECT_EQ(summary.changes, 1000);
  EXPECT_EQ(summary.notes.size(), transform::Summary::kMaxLines);
}

}  // namespace
}  // namespace hone::test
