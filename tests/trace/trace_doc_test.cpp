// docs/TRACE.md ends with the tables that the store has.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.hpp"
#include "trace/store.hpp"

namespace hone::trace {
namespace {

TEST(TraceDoc, EndsWithTheTablesOfTheStore) {
  const std::string path = HONE_SOURCE_DIR "/docs/TRACE.md";
  const std::string document = base::read_file(path);
  const size_t mark = document.find("can write it. -->\n\n");
  ASSERT_NE(mark, std::string::npos);
  const size_t begin = document.find('\n', mark) + 2;
  std::string tables = store_markdown();
  while (tables.ends_with("\n\n")) tables.pop_back();
  if (std::getenv("HONE_WRITE_DOCS") != nullptr)
    base::write_file_atomic(path, document.substr(0, begin) + tables);
  EXPECT_EQ(base::read_file(path).substr(begin), tables)
      << "write it anew: HONE_WRITE_DOCS=1 build/release/bin/trace_test --gtest_filter=TraceDoc.*";
}

}  // namespace
}  // namespace hone::trace
