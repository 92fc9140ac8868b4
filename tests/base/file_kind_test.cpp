// Files that are something else than what a command wants.
#include "base/file_kind.hpp"

#include <gtest/gtest.h>

namespace hone::base {
namespace {

TEST(FileKind, IsKnownByTheBeginning) {
  EXPECT_EQ(seeming_kind("1, 2, 3\n4, 5, 6\n"), "text");
  EXPECT_EQ(seeming_kind("Grüße"), "text");
  EXPECT_EQ(seeming_kind(" {\"a\": 1}"), "JSON text");
  EXPECT_EQ(seeming_kind("\n<!DOCTYPE html><html></html>"), "a web page");
  EXPECT_EQ(seeming_kind("version https://git-lfs.github.com/spec/v1\n"), "a Git LFS pointer");
  EXPECT_EQ(seeming_kind("PK\3\4\x14"), "a zip archive");
  EXPECT_EQ(seeming_kind("\x89PNG\r\n\x1a\n"), "a PNG image");
  EXPECT_EQ(seeming_kind("\x08\x07\x12\x04 onnx"), "");
  EXPECT_EQ(seeming_kind(""), "");
  EXPECT_EQ(seeming_kind("\xff\xff{}"), "");
}

TEST(FileKind, IsNamedInSentences) {
  EXPECT_EQ(other_kind_text("words", "a model", "export one"), "this is text, not a model: export one");
  EXPECT_EQ(other_kind_text("\x08\x07", "a model", "export one"), "this is not a model: export one");
  EXPECT_EQ(other_kind_text("<html>", "a model", "export one"),
            "this is a web page, not a model: look at it to see what the download answered");
}

}  // namespace
}  // namespace hone::base
