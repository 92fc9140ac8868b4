// Bytes come as they are or unpacked, whole or with a reason.
#include "trace/format/byte_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/temporary_folder.hpp"
#include "trace/gzip.hpp"

namespace hone::trace {
namespace {

using ::testing::HasSubstr;

/// In pieces of `step` bytes.
std::string read_all(ByteSource& source, size_t step) {
  std::string all;
  std::string buffer(step, '\0');
  while (const size_t count = source.read(buffer)) all.append(buffer, 0, count);
  return all;
}

std::string numbers() {
  std::string text;
  for (int i = 0; i < 30'000; ++i) text += std::to_string(i * 7919) + "\n";
  return text;
}

TEST(ByteSource, ReadsPlainAndPackedFilesInPiecesOfAnySize) {
  const base::TemporaryFolder folder;
  const std::string text = numbers();
  for (const std::string& content :
       {text, gzip(text), gzip(text.substr(0, 1000)) + gzip(text.substr(1000))}) {
    for (const size_t step : {size_t{997}, size_t{1} << 20}) {
      ByteSource source(folder.write("a", content));
      EXPECT_EQ(read_all(source, step), text);
      EXPECT_EQ(source.damage(), "");
    }
  }
}

TEST(ByteSource, GivesWhatCameBeforeTheDamage) {
  const base::TemporaryFolder folder;
  const std::string text = numbers();
  std::string packed = gzip(text);
  ByteSource cut(folder.write("cut", std::string_view(packed).substr(0, packed.size() / 2)));
  const std::string first = read_all(cut, 4096);
  EXPECT_GT(first.size(), text.size() / 4);
  EXPECT_EQ(first, text.substr(0, first.size()));
  EXPECT_THAT(cut.damage(), HasSubstr("ends in the middle"));

  packed[packed.size() - 6] ^= 1;  // in the checksum
  ByteSource damaged(folder.write("damaged", packed));
  EXPECT_EQ(read_all(damaged, 4096), text);
  EXPECT_THAT(damaged.damage(), HasSubstr("damaged"));
}

TEST(ByteSource, TakesBytesBehindThePackedOnesForPadding) {
  const base::TemporaryFolder folder;
  ByteSource source(folder.write("a", gzip("abc") + std::string(512, '\0')));
  EXPECT_EQ(read_all(source, 4096), "abc");
  EXPECT_EQ(source.damage(), "");
}

TEST(ByteSource, RefusesWhatIsNoFile) {
  const base::TemporaryFolder folder;
  EXPECT_THROW(ByteSource(folder.path() / "missing"), Error);
  EXPECT_THROW(ByteSource(folder.path()), Error);
}

}  // namespace
}  // namespace hone::trace
