// The public API's engines: what it refuses before any work is done, and what keeps an engine whose shapes
// nobody named.
#include "hone/engine.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

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

TEST(ApiEngine, DevicesThatAreNoneAreRefused) {
  BuildOptions options;
  for (const char* name : {"cuda:", "cuda:x", "cuda:-1", "cuda:99999999999"}) {
    options.device = name;
    const std::string sentence =
        "'" + options.device + "' names no GPU: cuda:0 is the first one, cuda:1 the second";
    EXPECT_EQ(usage_error([&] { Engine::build("alexnet", options); }), sentence);
    EXPECT_EQ(usage_error([&] { Engine::load("none.hone", 0, name); }), sentence);
  }
}

/// As README.md has it: the engine is tuned for a batch of 1 and takes every batch, from a file as well.
TEST(ApiEngine, AnEngineWithoutShapesCanBeKept) {
  std::string pattern = (std::filesystem::temp_directory_path() / "hone-api-XXXXXX").string();
  const std::filesystem::path folder = ::mkdtemp(pattern.data());
  BuildOptions options;
  options.optimization_level = 0;
  options.threads = 1;
  Engine built = Engine::build(HONE_SOURCE_DIR "/models/digits/digits.onnx", options);
  built.save(folder / "digits.hone");
  const std::string refusal = usage_error([&] { Engine::load(folder / "digits.hone", 0, "cuda:1"); });
  EXPECT_NE(refusal.find(", not for cuda:1"), std::string::npos) << refusal;
  Engine kept = Engine::load(folder / "digits.hone", 0, "cpu");
  for (const int64_t batch : {1, 3}) {
    const std::vector<float> images(static_cast<size_t>(batch) * 64, 0.5F);
    const TensorView view{std::span<const float>(images), {batch, 1, 8, 8}};
    const auto expected = built.run({view});
    const auto found = kept.run({view});
    ASSERT_EQ(found.at(0).dims, (Dims{batch, 10}));
    EXPECT_TRUE(std::ranges::equal(found[0].elements<float>(), expected[0].elements<float>()));
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace hone
