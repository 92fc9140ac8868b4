// Torch-TensorRT's dry-run report, as the version 2.14 prints it.
#include "backend/partition/dry_run_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.hpp"
#include "system/scratch.hpp"

namespace hone::backend::partition {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr const char* kReport = R"(
++++++++++++++++++++ Dry-Run Results for Graph ++++++++++++++++++++

The graph consists of 160 Total Operators, of which 157 operators are supported, 98.12% coverage

The following ops are currently unsupported or excluded from conversion, and are listed with their op-count in the graph:
 torch.ops.aten.nonzero.default: 1
 torch.ops.aten.sort.default: 2

The following nodes are currently set to run in Torch:
Node: torch.ops.aten.relu.default, with layer location: __/layer1/relu

Compiled with: CompilationSettings(enabled_precisions={<dtype.f16: 6>}, min_block_size=5)

    TRT Engine #1 - Submodule name: _run_on_acc_0
     Number of Operators in Engine: 100
    TRT Engine #2 - Submodule name: _run_on_acc_2
     Number of Operators in Engine: 56

   - For minimal graph segmentation, select min_block_size=100 which would generate 1 TRT engine(s)
   - The current level of graph segmentation is equivalent to selecting min_block_size=5 which generates 2 TRT engine(s)
)";

DryRunReport read(const std::string& text) {
  const system::Scratch scratch;
  const auto file = scratch.folder() / "report.txt";
  std::ofstream(file) << text;
  return read_dry_run_report(file);
}

TEST(DryRunReport, NumbersAreThoseOfTheText) {
  const DryRunReport report = read(kReport);
  EXPECT_EQ(report.operators, 160);
  EXPECT_EQ(report.supported, 157);
  EXPECT_THAT(report.engines, ElementsAre(100, 56));
  EXPECT_THAT(report.unsupported,
              ElementsAre(Pair("torch.ops.aten.nonzero.default", 1), Pair("torch.ops.aten.sort.default", 2)));
  EXPECT_THAT(report.advice, ElementsAre(Pair(100, 1), Pair(5, 2)));
  EXPECT_EQ(
      dry_run_text(report),
      "Torch-TensorRT's dry run: 156 of 160 operators in 2 engines; not taken: "
      "torch.ops.aten.nonzero.default (1), torch.ops.aten.sort.default (2); it says that min_block_size 100 "
      "gives 1 engine, min_block_size 5 gives 2 engines");
}

TEST(DryRunReport, AWholeGraphHasNothingLeft) {
  const DryRunReport report = read(
      "The graph consists of 3 Total Operators, of which 3 operators are supported\n"
      "     Number of Operators in Engine: 3\n");
  EXPECT_THAT(report.unsupported, ElementsAre());
  EXPECT_EQ(dry_run_text(report), "Torch-TensorRT's dry run: 3 of 3 operators in 1 engine");
}

TEST(DryRunReport, OtherTextIsNone) {
  for (const char* text :
       {"", "The graph consists of many Total Operators", "min_block_size=5 which generates"}) {
    try {
      read(text);
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
      EXPECT_THAT(error.what(), HasSubstr("holds no dry-run report of Torch-TensorRT"));
    }
  }
}

}  // namespace
}  // namespace hone::backend::partition
