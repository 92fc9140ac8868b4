// The public API's engines: what it refuses before any work is done, and what keeps an engine whose shapes
// nobody named.
#include "hone/engine.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

#include "hone/error.hpp"
#include "support/usage_error.hpp"

namespace hone {
namespace {

using test::usage_error;

/// A folder that is removed with all that is in it.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hone-api-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Scratch() { std::filesystem::remove_all(folder_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::filesystem::path operator/(const char* name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_;
};

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
  const Scratch folder;
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
}

TEST(ApiEngine, ATimeToBuildInIsATime) {
  BuildOptions options;
  for (const double seconds : {-1.0, -0.001, std::nan("")}) {
    options.budget_seconds = seconds;
    EXPECT_NE(usage_error([&] { Engine::build("alexnet", options); }).find("the time to build in is "),
              std::string::npos);
  }
}

/// The cache marks what a search had no time for.
TEST(ApiEngine, TheSearchKeepsToItsBudgetAndItsCache) {
  const Scratch scratch;
  BuildOptions options;
  options.threads = 1;
  options.timing_cache = {.file = scratch / "times.json", .only = true};
  const std::string model = HONE_SOURCE_DIR "/models/digits/digits.onnx";
  try {
    Engine::build(model, options);
    ADD_FAILURE() << "there are no times yet";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput) << error.what();
  }
  options.timing_cache.only = false;
  const auto has_marks_after = [&](double budget) {
    options.budget_seconds = budget;
    Engine::build(model, options);
    std::ifstream file(options.timing_cache.file);
    return std::string(std::istreambuf_iterator<char>(file), {}).find("cut_short_after") != std::string::npos;
  };
  EXPECT_TRUE(has_marks_after(1e-9));
  EXPECT_FALSE(has_marks_after(0));
  options.timing_cache.only = true;
  Engine::build(model, options);
}

TEST(ApiEngine, ABuildTellsHowFarItIsAndWhatItDid) {
  BuildOptions options;
  options.threads = 1;
  options.timing_cache.used = false;
  std::vector<BuildProgress> progress;
  std::vector<std::string> notes;
  std::vector<std::string> warnings;
  options.progress = [&](const BuildProgress& now) { progress.push_back(now); };
  options.log = [&](LogLevel level, const std::string& text) {
    (level == LogLevel::kNote ? notes : warnings).push_back(text);
  };
  Engine::build("squeezenet1_1", options);
  ASSERT_FALSE(progress.empty());
  EXPECT_FALSE(progress.front().doing.empty());
  for (size_t i = 1; i < progress.size(); ++i)
    EXPECT_GE(progress[i].done_seconds, progress[i - 1].done_seconds);
  const auto says = [](const std::vector<std::string>& texts, const char* part) {
    return std::any_of(texts.begin(), texts.end(),
                       [part](const std::string& text) { return text.find(part) != std::string::npos; });
  };
  EXPECT_TRUE(says(notes, "pass convolution_fusion: "));
  EXPECT_TRUE(says(notes, "built squeezenet1_1 for "));
  warnings.clear();
  options.budget_seconds = 0.001;
  Engine::build("squeezenet1_1", options);
  EXPECT_TRUE(says(warnings, "the time for the search was over: "));
}

TEST(ApiEngine, AnExceptionOfTheCallerEndsTheBuild) {
  struct Enough {};
  BuildOptions options;
  options.threads = 1;
  options.timing_cache.used = false;
  options.progress = [](const BuildProgress&) { throw Enough(); };
  EXPECT_THROW(Engine::build("squeezenet1_1", options), Enough);
}

TEST(ApiEngine, RunsByNameAndFromMemory) {
  const Scratch scratch;
  BuildOptions options;
  options.threads = 1;
  options.optimization_level = 0;
  Engine built = Engine::build("squeezenet1_1", options);
  built.save(scratch / "net.hone");
  std::ifstream file(scratch / "net.hone", std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto bytes = std::as_bytes(std::span(content));
  Engine engine = Engine::load_bytes(bytes);
  const std::vector<float> image(size_t{3} * 224 * 224, 0.5F);
  const TensorView view(std::span<const float>(image), {1, 3, 224, 224});
  const std::string input = engine.inputs().front().name;
  const auto outputs = engine.run_by_name({{input, view}});
  const auto expected = built.run({view});
  ASSERT_EQ(outputs.size(), 1U);
  const auto values = outputs.at(engine.outputs().front().name).elements<float>();
  EXPECT_TRUE(std::equal(values.begin(), values.end(), expected.front().elements<float>().begin()));
  EXPECT_EQ(usage_error([&] { engine.run_by_name({}); }), "input '" + input + "' has no tensor");
  EXPECT_EQ(usage_error([&] {
              engine.run_by_name({{input, view}, {"other", view}});
            }),
            "'other' is no input of the engine");
  EXPECT_THROW(Engine::load_bytes(bytes.first(100)), Error);
  EXPECT_THROW(Engine::load_bytes({}), Error);
}

TEST(ApiEngine, PassesCanBeLeftOut) {
  BuildOptions options;
  options.optimization_level = 0;
  options.disabled_passes = {"no such pass"};
  const std::string refusal =
      usage_error([&] { Engine::build(HONE_SOURCE_DIR "/models/digits/digits.onnx", options); });
  EXPECT_NE(refusal.find("there is no pass named 'no such pass'"), std::string::npos) << refusal;
}

}  // namespace
}  // namespace hone
