// The public API's engines: what it refuses before any work is done.
#include "hone/engine.hpp"

#include <gtest/gtest.h>

#include "hone/error.hpp"

namespace hone {
namespace {

template <class Action>
std::string usage_error(Action&& action) {
  try {
    action();
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage) << error.what();
    return error.what();
  }
}

/// An engine file of more threads would not load.
TEST(ApiEngine, ThreadsHaveALimit) {
  BuildOptions options;
  options.threads = 1025;
  EXPECT_EQ(usage_error([&] { Engine::build("alexnet", options); }), "threads is 1025, the limit is 1024");
  EXPECT_EQ(usage_error([] { Engine::load("none.hone", 1025); }), "threads is 1025, the limit is 1024");
  EXPECT_EQ(usage_error([] { Engine::load("none.hone", -1); }), "threads is -1");
}

}  // namespace
}  // namespace hone
