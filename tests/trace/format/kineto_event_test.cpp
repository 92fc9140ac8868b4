// Times keep every nanosecond, and fields are found whatever their spelling and form.
#include "trace/format/kineto_event.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hone::trace {
namespace {

TEST(ParseMicroseconds, KeepsNanoseconds) {
  const std::vector<std::pair<const char*, Time>> cases = {
      {"0", 0},
      {"12", 12'000},
      {"1623142623460111", 1'623'142'623'460'111'000},
      {"3605057436108.407", 3'605'057'436'108'407},
      {"4203669604595.4", 4'203'669'604'595'400},
      {"0.001", 1},
      {"0.0004", 0},
      {"0.0005", 1},
      {"1.99999", 2000},
      {"-2.5", -2500},
      {"1.5e3", 1'500'000},
      {"7.", 7000},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(parse_microseconds(text), expected) << text;
}

TEST(ParseMicroseconds, RefusesWhatIsNoTime) {
  for (const char* text : {"", "-", "abc", "1e300", "-1e300", "NaN", "nan", "inf", "Infinity", "-Infinity",
                           "1x", "null", "99999999999999999999", "4000000000000001", "1.5.5", ".5"})
    EXPECT_FALSE(parse_microseconds(text)) << text;
}

struct Parsed {
  bool good;
  KinetoEvent event;
};

/// Texts stay valid as long as the parser does.
class KinetoEventTest : public ::testing::Test {
 protected:
  bool parse(const std::string& text) {
    padded_ = text + std::string(64, ' ');
    return parser_.parse(std::string_view(padded_).substr(0, text.size()), 64, event_);
  }
  KinetoEventParser parser_;
  std::string padded_;
  KinetoEvent event_;
};

TEST_F(KinetoEventTest, ReadsEveryField) {
  ASSERT_TRUE(
      parse(R"({"ph": "X", "cat": "kernel", "name": "k\u0041\n", "pid": 0, "tid": "stream 7", "ts": 1.5,
    "dur": "2", "args": {"external id": 5, "correlation": "9", "grid": [1, 2, 3], "block": [4.0],
    "est. achieved occupancy %": 12.5, "Input Dims": [[8,  3], []], "Input type": "float", "shared memory": 1e3,
    "unknown": {"deep": [[[1]]]}, "stream": 7}})"));
  EXPECT_EQ(event_.phase, "X");
  EXPECT_EQ(event_.name, "kA\n");
  EXPECT_EQ(event_.process.number, 0);
  EXPECT_EQ(event_.thread.number, 7);
  EXPECT_EQ(event_.thread.text, "stream 7");
  EXPECT_EQ(event_.start, 1500);
  EXPECT_EQ(event_.duration, 2000);
  EXPECT_EQ(event_.external_id, 5);
  EXPECT_EQ(event_.correlation, 9);
  EXPECT_EQ(event_.grid, (std::array<int32_t, 3>{1, 2, 3}));
  EXPECT_EQ(event_.block, (std::array<int32_t, 3>{4, 0, 0}));
  EXPECT_EQ(event_.occupancy, 12.5);
  EXPECT_EQ(event_.input_shapes, "[[8,  3], []]");
  EXPECT_EQ(event_.input_types, "float");
  EXPECT_EQ(event_.shared_bytes, 1000);
  EXPECT_EQ(event_.stream, 7);
}

TEST_F(KinetoEventTest, LeavesFieldsOfTheWrongKindAtTheirDefaults) {
  ASSERT_TRUE(parse(R"({"ph": 7, "name": null, "pid": [1], "tid": {}, "ts": true, "dur": NaN,
    "args": {"grid": {"x": 1}, "block": [1e300, "2", 3, 4], "stream": [7], "correlation": 1e300, "Addr": 18446744073709551615}})"));
  EXPECT_FALSE(event_.start);
  EXPECT_FALSE(event_.duration);
  EXPECT_EQ(event_.grid, (std::array<int32_t, 3>{}));
  EXPECT_EQ(event_.block, (std::array<int32_t, 3>{0, 2, 3}));
  EXPECT_EQ(event_.stream, kNone);
  EXPECT_EQ(event_.correlation, kNone);
  EXPECT_EQ(event_.address, -1);
  EXPECT_TRUE(parse(R"({"ph": "X", "args": null, "ts": 3})"));
  EXPECT_EQ(event_.start, 3000);
}

TEST_F(KinetoEventTest, ForgetsTheEventBefore) {
  ASSERT_TRUE(parse(R"({"ph": "X", "args": {"stream": 7}})"));
  ASSERT_TRUE(parse(R"({"ph": "X"})"));
  EXPECT_EQ(event_.stream, kNone);
}

TEST_F(KinetoEventTest, SavesAnEventWhoseTextIsNoUtf8) {
  ASSERT_TRUE(parse("{\"ph\": \"X\", \"name\": \"caf\xe9\", \"ts\": 1}"));
  EXPECT_EQ(event_.name, "caf?");
  EXPECT_EQ(event_.start, 1000);
}

TEST_F(KinetoEventTest, RefusesWhatIsNoObject) {
  for (const char* text :
       {"", "12", "[1]", "\"a\"", "{\"a\" 1}", "{\"name\": \"a\"b\"}", "{\"ph\": \"X\",", "{1: 2}"})
    EXPECT_FALSE(parse(text)) << text;
  EXPECT_FALSE(parse(std::string(100'000, '[')));
  std::string deep = R"({"args": {"a": )" + std::string(5000, '[') + std::string(5000, ']') + "}}";
  parse(deep);  // good or not, but no crash
}

}  // namespace
}  // namespace hone::trace
