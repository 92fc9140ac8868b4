// The version in the public headers is the build's.
#include <gtest/gtest.h>

#undef HONE_VERSION
#include <fmt/format.h>
#include <hone/version.hpp>

#include <fstream>
#include <sstream>

namespace hone {
namespace {

TEST(Version, OfTheHeadersIsTheBuilds) {
  std::stringstream build;
  build << std::ifstream(HONE_SOURCE_DIR "/CMakeLists.txt").rdbuf();
  EXPECT_NE(build.str().find(fmt::format("VERSION {}", HONE_VERSION)), std::string::npos) << HONE_VERSION;
  EXPECT_EQ(HONE_VERSION,
            fmt::format("{}.{}.{}", HONE_VERSION_MAJOR, HONE_VERSION_MINOR, HONE_VERSION_PATCH));
}

}  // namespace
}  // namespace hone
