// The types that the page is built with are those of the structs.
#include "report/page/page_schema.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.hpp"

namespace hone::report {
namespace {

TEST(PageSchema, IsWhatThePageIsBuiltWith) {
  const std::filesystem::path path = std::filesystem::path(HONE_SOURCE_DIR) / "web/src/schema.ts";
  if (std::getenv("HONE_WRITE_DOCS") != nullptr) base::write_file_atomic(path, page_schema());
  EXPECT_EQ(base::read_file(path), page_schema()) << "write it anew with HONE_WRITE_DOCS=1, and build web/";
}

}  // namespace
}  // namespace hone::report
