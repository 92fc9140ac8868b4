// A document is cut where its members and elements end, wherever the buffer ends, and a broken one is saved
// from the next line on.
#include "trace/format/json_pieces.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"

namespace hone::trace {
namespace {

using ::testing::ElementsAre;

struct Cut {
  std::vector<std::string> pieces;  // "key=text" of members, the text of elements
  bool found_array = false;
  bool complete = false;
  size_t oversized = 0;
};

Cut cut(std::string_view document) {
  const base::TemporaryFolder folder;
  ByteSource source(folder.write("a.json", document));
  JsonPieces pieces(source, "list");
  Cut result;
  while (true) {
    const JsonPieces::Piece piece = pieces.next();
    if (piece.kind == JsonPieces::Kind::kEnd) break;
    const std::string key = piece.kind == JsonPieces::Kind::kMember ? std::string(piece.key) + "=" : "";
    result.pieces.push_back(key + std::string(piece.text));
  }
  result.found_array = pieces.found_array();
  result.complete = pieces.complete();
  result.oversized = pieces.oversized();
  return result;
}

TEST(JsonPieces, CutsMembersAndElements) {
  const Cut result =
      cut("\xef\xbb\xbf\n{ \"a\" : 1.5,\"b\":\"x]}\\\"{\",\"c\":{\"d\":[{}]},\n\"list\": [ {\"e\":[1]} ,"
          "{\"f\":\"\\\\\"},3 ] , \"g\":null }");
  EXPECT_THAT(result.pieces, ElementsAre("a=1.5", "b=\"x]}\\\"{\"", "c={\"d\":[{}]}", "{\"e\":[1]}",
                                         "{\"f\":\"\\\\\"}", "3", "g=null"));
  EXPECT_TRUE(result.found_array);
  EXPECT_TRUE(result.complete);
}

TEST(JsonPieces, CutsAnOutermostArrayToo) {
  EXPECT_THAT(cut("[{\"a\":1},{}]").pieces, ElementsAre("{\"a\":1}", "{}"));
  EXPECT_TRUE(cut("[]").complete);
  EXPECT_TRUE(cut("[]").pieces.empty());
}

TEST(JsonPieces, FindsEndsAtEveryDistanceFromTheBlocksItLooksAt) {
  for (size_t length = 0; length < 200; ++length) {
    const std::string filler(length, 'x');
    const std::string element = "{\"" + filler + "\":[\"" + filler + "}]\\\"\", {\"k\": \"{\"}]}";
    const Cut result = cut("{\"list\":[" + element + "," + element + "]}");
    ASSERT_THAT(result.pieces, ElementsAre(element, element)) << length;
    ASSERT_TRUE(result.complete) << length;
  }
}

TEST(JsonPieces, CutsDocumentsLargerThanItsBuffer) {
  std::string document = "{\"list\":[";
  std::vector<std::string> expected;
  for (size_t i = 0; i < 400; ++i) {
    expected.push_back("{\"n\":\"" + std::string(i * 40, static_cast<char>('a' + i % 26)) + "\"}");
    document += (i == 0 ? "" : ",\n") + expected.back();
  }
  const Cut result = cut(document + "]}");
  EXPECT_EQ(result.pieces, expected);
  EXPECT_TRUE(result.complete);
}

TEST(JsonPieces, LosesNoMoreThanTheLineOfAMissingQuote) {
  const Cut result = cut("{\"list\":[\n{\"a\":\"b},\n\"n\":1},\n{\"c\":\"d\"}\n]}");
  ASSERT_EQ(result.pieces.size(), 2U);
  EXPECT_EQ(result.pieces[1], "{\"c\":\"d\"}");
}

TEST(JsonPieces, SaysThatADocumentBreaksOff) {
  const std::string whole = "{\"a\":\"b\",\"list\":[{\"c\":[1,2]},{\"d\":3}],\"e\":12}";
  for (size_t length = 0; length < whole.size(); ++length) {
    const Cut result = cut(whole.substr(0, length));
    EXPECT_FALSE(result.complete) << length;
    EXPECT_EQ(result.found_array, length > whole.find('[')) << length;
    EXPECT_LE(result.pieces.size(), 4U) << length;
  }
  EXPECT_THAT(cut(whole.substr(0, 30)).pieces, ElementsAre("a=\"b\"", "{\"c\":[1,2]}"));
}

TEST(JsonPieces, SkipsAndCountsWhatIsTooLong) {
  const std::string longest(JsonPieces::kLongestPiece + (size_t{4} << 20), 'x');
  const Cut result = cut("{\"list\":[{\"a\":\"" + longest + "\"},{\"b\":1}]}");
  EXPECT_THAT(result.pieces, ElementsAre("{\"b\":1}"));
  EXPECT_EQ(result.oversized, 1U);
  EXPECT_TRUE(result.complete);
}

TEST(JsonPieces, TakesNothingFromWhatIsNoObject) {
  for (const char* text : {"", "   ", "12", "\"list\"", "{", "{list:[]}",
                           "\x7f"
                           "ELF",
                           "{\"list\" []}"}) {
    EXPECT_FALSE(cut(text).found_array) << text;
    EXPECT_TRUE(cut(text).pieces.empty()) << text;
  }
}

}  // namespace
}  // namespace hone::trace
