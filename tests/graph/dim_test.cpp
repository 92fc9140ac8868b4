// Arithmetic on dimensions: symbols stay where they are unchanged, and what does not fit is bad input.
#include "graph/dim.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace hone::graph {
namespace {

template <class Compute>
std::string refusal(const Compute& compute) {
  try {
    return "accepted as " + compute().text();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    return error.sentence();
  }
}

TEST(Dim, KeepsUnchangedSymbols) {
  const Dim n = Dim::symbol("N");
  EXPECT_EQ((n + 0).text(), "N");
  EXPECT_EQ((n - 0).text(), "N");
  EXPECT_EQ((n - n).text(), "0");
  EXPECT_EQ((n * 1).text(), "N");
  EXPECT_EQ((n * 0).text(), "0");
  EXPECT_EQ((n / 1).text(), "N");
  EXPECT_EQ((n / n).text(), "1");
  EXPECT_EQ((n + 1).text(), "?");
}

TEST(Dim, RefusesWhatDoesNotFit) {
  EXPECT_EQ(refusal([] { return Dim(INT64_MAX) + Dim(1); }), "size 9223372036854775807 + 1 overflows");
  EXPECT_EQ(refusal([] { return Dim(INT64_MIN) - Dim(1); }), "size -9223372036854775808 - 1 overflows");
  EXPECT_EQ(refusal([] { return Dim(INT64_MAX) * Dim(2); }), "size 9223372036854775807 x 2 overflows");
  EXPECT_EQ(refusal([] { return Dim(INT64_MIN) / Dim(-1); }), "size -9223372036854775808 / -1 overflows");
  EXPECT_EQ(refusal([] { return Dim(7) / Dim(-1); }), "accepted as -7");
  EXPECT_EQ(refusal([] { return Dim(7) / Dim(0); }), "a dimension is divided by zero");
}

}  // namespace
}  // namespace hone::graph
