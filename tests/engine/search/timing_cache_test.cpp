// The timing cache: what builds add to it stays, whoever else adds, and damage costs only entries.
#include "engine/search/timing_cache.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"

namespace hone::engine {
namespace {

class TimingCacheTest : public ::testing::Test {
 protected:
  TimingCacheTest() {
    std::string path = (std::filesystem::temp_directory_path() / "timing-cache-XXXXXX").string();
    folder_ = ::mkdtemp(path.data());
  }
  ~TimingCacheTest() override { std::filesystem::remove_all(folder_); }

  TimingCache open() const { return {folder_, "a device", 2}; }
  static TimingEntry entry(const std::string& chosen) {
    return {chosen, {{chosen, {1.5, 1.25, 7}}}, {"other: has a reason"}, 3};
  }

  std::filesystem::path folder_;
};

TEST_F(TimingCacheTest, GivesBackWhatWasSaved) {
  TimingCache first = open();
  first.set("step", entry("fast"));
  first.save();
  const TimingCache second = open();
  const TimingEntry* found = second.find("step", 1);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->chosen, "fast");
  EXPECT_EQ(found->times.at("fast").samples, 7);
  EXPECT_EQ(found->refusals, std::vector<std::string>{"other: has a reason"});
}

TEST_F(TimingCacheTest, FindsNothingThatALowerLevelFound) {
  TimingCache cache = open();
  cache.set("step", entry("fast"));
  cache.save();
  for (const TimingCache& known : {cache, open()}) {
    EXPECT_NE(known.find("step", 2), nullptr);
    EXPECT_NE(known.find("step", 3), nullptr);
    EXPECT_EQ(known.find("step", 4), nullptr);
  }
}

TEST_F(TimingCacheTest, GivesWhatWasCutShortToThoseWithNoMoreTime) {
  TimingCache cache = open();
  TimingEntry cut = entry("fast");
  cut.cut_short_after = 20;
  cache.set("step", cut);
  cache.save();
  for (TimingCache known : {cache, open()}) {
    known.accept_incomplete(false, 20);
    EXPECT_NE(known.find("step", 1), nullptr);
    known.accept_incomplete(false, 21);
    EXPECT_EQ(known.find("step", 1), nullptr);
    known.accept_incomplete(true, 21);
    EXPECT_NE(known.find("step", 1), nullptr);
  }
}

TEST_F(TimingCacheTest, DropsAChoiceThatWasNotTimed) {
  TimingCache first = open();
  first.set("step", entry("fast"));
  first.set("step 2", entry("fast"));
  first.save();
  Json json = Json::parse(base::read_file(first.file()));
  json["steps"]["step"]["chosen"] = "faster";
  std::ofstream(first.file()) << json.dump();
  EXPECT_EQ(open().find("step", 1), nullptr);
  EXPECT_NE(open().find("step 2", 1), nullptr);
}

TEST_F(TimingCacheTest, KeepsWhatAnotherBuildAddedMeanwhile) {
  TimingCache one = open();
  TimingCache other = open();
  one.set("step 1", entry("a"));
  other.set("step 2", entry("b"));
  one.save();
  other.save();
  EXPECT_NE(open().find("step 1", 1), nullptr);
  EXPECT_NE(open().find("step 2", 1), nullptr);
}

TEST_F(TimingCacheTest, LeavesOutWhatThisBuildDidNotUseBeyondTheLimit) {
  TimingCache first = open();
  for (int i = 0; i < 100; ++i) first.set("step " + std::to_string(i), entry("a"));
  first.save();
  TimingCache second = open();
  EXPECT_NE(second.find("step 99", 1), nullptr);
  second.set("new", entry("b"));
  second.save(1000);
  EXPECT_LT(std::filesystem::file_size(second.file()), 1500U);
  EXPECT_NE(open().find("new", 1), nullptr);
  EXPECT_NE(open().find("step 99", 1), nullptr) << "it was used";
  EXPECT_EQ(open().find("step 98", 1), nullptr);
}

TEST_F(TimingCacheTest, DropsRefusalsWithoutAReason) {
  TimingCache first = open();
  first.set("step", entry("fast"));
  first.save();
  Json json = Json::parse(base::read_file(first.file()));
  json["steps"]["step"]["refusals"] = {"", "no colon", "tactic: reason"};
  std::ofstream(first.file()) << json.dump();
  EXPECT_EQ(open().find("step", 1)->refusals, std::vector<std::string>{"tactic: reason"});
}

TEST_F(TimingCacheTest, OfANamedFileSaysWhatItCannotReadOrWrite) {
  const auto kind_of = [](const auto& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::kInternal;
  };
  const std::filesystem::path file = folder_ / "times.json";
  TimingCache first = TimingCache::of_file(file, "a device", 2);
  first.set("step", entry("fast"));
  first.save();
  EXPECT_NE(TimingCache::of_file(file, "a device", 2).find("step", 1), nullptr);
  EXPECT_EQ(kind_of([&] { TimingCache::of_file(file, "another device", 2); }), ErrorKind::kBadInput);
  EXPECT_EQ(kind_of([&] { TimingCache::of_file(folder_, "a device", 2); }), ErrorKind::kBadInput);
  const std::filesystem::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(kind_of([&] { TimingCache::of_file(pipe, "a device", 2); }), ErrorKind::kBadInput);
  TimingCache nowhere = TimingCache::of_file(folder_ / "missing" / "times.json", "a device", 2);
  nowhere.set("step", entry("fast"));
  EXPECT_EQ(kind_of([&] { nowhere.save(); }), ErrorKind::kEnvironment);
}

}  // namespace
}  // namespace hone::engine
