// A table finds the function of an operator, and no operator may have two.
#include "graph/implementation_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::graph {
namespace {

using Function = int (*)();
using Row = Implementation<Function>;

int one() { return 1; }
int two() { return 2; }

constexpr Row kFirst[] = {{"Add", one}, {"Sub", two}};
constexpr Row kSecond[] = {{"Mul", one}};
constexpr Row kRepeated[] = {{"Sub", one}};

TEST(ImplementationTable, FindsFunctionsOfAllFamilies) {
  const ImplementationTable<Function> table("functions", {kFirst, kSecond});
  EXPECT_EQ(table.find("Sub")(), 2);
  EXPECT_EQ(table.find("Mul")(), 1);
  EXPECT_EQ(table.find("Div"), nullptr);
}

TEST(ImplementationTable, AnOperatorWithTwoIsABugOfOurs) {
  try {
    const ImplementationTable<Function> table("functions", {kFirst, kRepeated});
    FAIL() << "nobody noticed";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInternal);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("two functions for Sub"));
  }
}

}  // namespace
}  // namespace hone::graph
