// Answers of `hone view`: lists that follow the folder, profiles, windows of timelines, and refusals.
#include "report/page/site.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "base/file.hpp"
#include "trace/store.hpp"

namespace hone::report {
namespace {

using ::testing::HasSubstr;

class SiteTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / fmt::format("hone-site-{}", getpid());
    std::filesystem::create_directories(folder_ / "runs");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write_trace(const std::string& name, int kernels) {
    trace::Trace trace;
    trace.metadata = {{"model", "toy"}, {"batch", "1"}, {"backend", name}, {"precision", "fp32"}};
    for (int i = 0; i < kernels; ++i)
      trace.device_events.push_back(
          {i * 100, i * 100 + 50, trace::DeviceKind::kKernel, trace.strings.intern("k"), 0, 1, 7});
    normalize(trace);
    const std::filesystem::path path = folder_ / "runs" / (name + ".trace.sqlite");
    trace::write_store(trace, path);
    return path;
  }
  std::string runs() const { return folder_ / "runs"; }

  std::filesystem::path folder_;
};

Json list_of(Site& site) { return Json::parse(site.answer({"/api/report"}).body); }

TEST_F(SiteTest, ListsWhatLiesInTheFolder) {
  write_trace("a", 1);
  write_trace("b", 2);
  base::write_file_atomic(folder_ / "runs/s.json", R"({"schema": "hone.bench", "version": 1, "runs": []})");
  Site site({runs()});
  site.wait();
  const Json list = list_of(site);
  EXPECT_TRUE(list["live"].get<bool>());
  ASSERT_EQ(list["profiles"].size(), 2U);
  EXPECT_EQ(list["profiles"][0]["name"], "toy a fp32 batch 1");
  EXPECT_TRUE(list["profiles"][0]["analysis"].is_null());
  EXPECT_EQ(list["sweeps"][0]["id"], "s");
  EXPECT_EQ(list["diffs"].size(), 1U);
}

TEST_F(SiteTest, FollowsFilesThatComeChangeAndGo) {
  const std::filesystem::path a = write_trace("a", 1);
  Site site({runs()});
  site.wait();
  const std::string tag = site.answer({"/api/report"}).tag;
  EXPECT_EQ(site.answer({"/api/report", {}, tag}).status, 304);
  write_trace("b", 1);
  site.search();
  site.wait();
  EXPECT_EQ(site.answer({"/api/report", {}, tag}).status, 200);
  EXPECT_EQ(list_of(site)["profiles"].size(), 2U);
  write_trace("a", 3);
  site.search();
  site.wait();
  EXPECT_EQ(
      Json::parse(site.answer({"/api/profiles/a"}).body)["analysis"]["summary"]["gpu_activities"][0]["calls"],
      3);
  std::filesystem::remove(a);
  site.search();
  EXPECT_EQ(list_of(site)["profiles"].size(), 1U);
  EXPECT_EQ(site.answer({"/api/profiles/a"}).status, 404);
}

TEST_F(SiteTest, GivesWindowsOfTimelines) {
  write_trace("a", 100);
  Site site({runs()});
  site.wait();
  const auto header = [&](const std::map<std::string, std::string>& parameters) {
    const SiteResponse response = site.answer({"/api/timeline/a", parameters});
    EXPECT_EQ(response.status, 200);
    uint32_t length = 0;
    std::memcpy(&length, response.body.data(), sizeof(length));
    return Json::parse(response.body.substr(sizeof(length), length));
  };
  EXPECT_EQ(header({})["tracks"][0]["count"], 100);
  EXPECT_EQ(header({{"from", "1000"}, {"to", "1180"}})["tracks"][0]["count"], 2);
  const Json merged = header({{"pixels", "10"}});
  EXPECT_EQ(merged["complete"], false);
  EXPECT_LT(merged["tracks"][0]["count"], 12);
  EXPECT_EQ(header({{"from", "-9"}, {"to", "x"}, {"pixels", "99999999999999999999"}})["tracks"][0]["count"],
            100);
}

TEST_F(SiteTest, ForgottenTracesAreReadAgain) {
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) write_trace(name, 1);
  Site site({runs()});
  site.wait();
  EXPECT_EQ(site.answer({"/api/timeline/a"}).status, 202);
  EXPECT_EQ(site.answer({"/api/profiles/a"}).status, 200) << "what was said of it is known all the while";
  site.wait();
  EXPECT_EQ(site.answer({"/api/timeline/a"}).status, 200);
}

TEST_F(SiteTest, BrokenFilesAreProblems) {
  base::write_file_atomic(folder_ / "runs/broken.trace.sqlite", "nothing of that kind");
  Site site({runs()});
  site.wait();
  EXPECT_THAT(list_of(site)["problems"][0]["text"].get<std::string>(), HasSubstr("broken.trace.sqlite"));
  EXPECT_EQ(site.answer({"/api/profiles/broken"}).status, 422);
  EXPECT_EQ(site.answer({"/api/timeline/broken"}).status, 422);
  EXPECT_EQ(site.answer({"/api/timeline/nothing"}).status, 404);
}

TEST_F(SiteTest, ServesNoFilesAtAll) {
  base::write_file_atomic(folder_ / "secret.txt", "secret");
  write_trace("a", 1);
  std::filesystem::create_symlink(folder_ / "secret.txt", folder_ / "runs/link.trace.sqlite");
  Site site({runs()});
  site.wait();
  for (const char* path :
       {"/../secret.txt", "/secret.txt", "/api/profiles/../../secret.txt", "/api/profiles/",
        "/api/timeline/link", "/api/profiles/link", "//etc/passwd", "", "/api/report/"}) {
    const SiteResponse response = site.answer({path});
    EXPECT_GE(response.status, 400) << path;
    EXPECT_THAT(response.body, ::testing::Not(HasSubstr("secret\n"))) << path;
  }
}

}  // namespace
}  // namespace hone::report
