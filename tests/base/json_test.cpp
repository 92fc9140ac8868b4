// Reading integers from JSON that somebody else wrote.
#include "base/json.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace hone {
namespace {

TEST(Json, IntegersThatFitAreRead) {
  EXPECT_EQ(Json::parse("-9223372036854775808").get<int64_t>(), INT64_MIN);
  EXPECT_EQ(Json::parse("18446744073709551615").get<uint64_t>(), UINT64_MAX);
  EXPECT_EQ(Json::parse("[1, 2]").get<std::vector<int>>(), (std::vector<int>{1, 2}));
  EXPECT_EQ(Json(uint64_t{7}).get<int>(), 7);
  EXPECT_EQ(Json({{"id", 3}}).value("id", int64_t{-1}), 3);
}

TEST(Json, NumbersThatDoNotFitAreTypeErrors) {
  for (const char* text : {"1e300", "-1e300", "1.5", "1.0", "4294967296", "-2147483649",
                           "18446744073709551615", "true", "null", "\"1\""}) {
    EXPECT_THROW(Json::parse(text).get<int>(), Json::type_error) << text;
  }
  EXPECT_THROW(Json::parse("-1").get<size_t>(), Json::type_error);
  EXPECT_THROW(Json::parse("9223372036854775808").get<int64_t>(), Json::type_error);
  EXPECT_THROW(Json::parse("[1, 1e30]").get<std::vector<int64_t>>(), Json::type_error);
}

TEST(Json, TheOtherTypesAreReadAsBefore) {
  EXPECT_EQ(Json::parse("3").get<double>(), 3.0);
  EXPECT_TRUE(Json::parse("true").get<bool>());
}

}  // namespace
}  // namespace hone
