// The report as one file: what is embedded can be read back, and ends no element early.
#include "report/page/page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>

#include "base/file.hpp"
#include "trace/store.hpp"

namespace hone::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Page : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / fmt::format("hone-page-{}", getpid());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write_trace(const std::string& name, const std::string& kernel) {
    trace::Trace trace;
    trace.metadata = {{"model", "toy"}, {"batch", "1"}, {"backend", name}, {"precision", "fp32"}};
    trace.device_events.push_back(
        {0, 100, trace::DeviceKind::kKernel, trace.strings.intern(kernel), 0, 1, 7});
    normalize(trace);
    const std::string path = folder_ / (name + ".trace.sqlite");
    trace::write_store(trace, path);
    return path;
  }
  std::string write_text(const std::string& name, const std::string& text) {
    const std::string path = folder_ / name;
    base::write_file_atomic(path, text);
    return path;
  }
  Report report_of(const std::vector<std::string>& inputs) { return make_report(find_run_files(inputs)); }

  std::filesystem::path folder_;
};

TEST_F(Page, HoldsTheReportAsJson) {
  const Report report = report_of({write_trace("a", "k")});
  const std::string page = page_with(report);
  const std::string begin = "id=\"hone-report\">";
  const size_t from = page.rfind(begin) + begin.size();
  const Json json = Json::parse(page.substr(from, page.find("</script>", from) - from));
  EXPECT_EQ(json, Json::parse(to_json(report).dump())) << "numbers that are not finite are written as null";
  EXPECT_EQ(json["profiles"][0]["name"], "toy a fp32 batch 1");
  EXPECT_EQ(json["profiles"][0]["timeline"]["strings"][1], "k");
}

TEST_F(Page, NamesEndNoElement) {
  const std::string page = page_with(report_of({write_trace("a", "</script><script>alert(1)</script>")}));
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, HasSubstr("\\u003c/script>"));
}

TEST_F(Page, ComparesProfilesOfOneModel) {
  const Report report = report_of({write_trace("a", "k"), write_trace("b", "k")});
  ASSERT_EQ(report.diffs.size(), 1U);
  EXPECT_EQ(report.diffs[0].a, "a");
  EXPECT_EQ(report.diffs[0].b, "b");
}

TEST_F(Page, ComparesHoneFirstAndSaysWhatItLeavesOut) {
  std::vector<std::string> traces;
  for (const char* backend : {"a", "b", "c", "d", "e", "f", "hone"})
    traces.push_back(write_trace(backend, "k"));
  const Report report = report_of(traces);
  ASSERT_EQ(report.diffs.size(), 16U);
  EXPECT_EQ(report.diffs_left_out, 5U);
  for (size_t i = 0; i < report.diffs.size(); ++i)
    EXPECT_EQ(report.diffs[i].a == "hone" || report.diffs[i].b == "hone", i < 6) << i;
}

TEST_F(Page, FilesThatCannotBeReadAreTold) {
  const Report report =
      report_of({write_text("broken.trace.sqlite", "nothing"), write_trace("good", "k"),
                 write_text("sweep.json", R"({"schema": "hone.bench", "version": 1, "runs": 3})"),
                 write_text("deep.json", R"({"schema": "hone.bench", "a": )" + std::string(100'000, '[')),
                 write_text("old.json", R"({"schema": "hone.bench", "version": 0, "runs": []})")});
  EXPECT_EQ(report.profiles.size(), 1U);
  EXPECT_TRUE(report.sweeps.empty());
  ASSERT_EQ(report.problems.size(), 4U);
  EXPECT_THAT(report.problems[0].text, HasSubstr("broken.trace.sqlite"));
  EXPECT_THAT(report.problems[1].text, HasSubstr("the field runs is no list"));
  EXPECT_THAT(report.problems[2].text, HasSubstr("nest more than 64 deep"));
  EXPECT_THAT(report.problems[3].text, HasSubstr("the file has version 0, not 1"));
}

TEST_F(Page, IdsAreTakenOnce) {
  std::filesystem::create_directories(folder_ / "one");
  const std::string a = write_trace("a", "k");
  std::filesystem::copy_file(a, folder_ / "one" / "a.trace.sqlite");
  const Report report = report_of({a, folder_ / "one"});
  ASSERT_EQ(report.profiles.size(), 2U);
  EXPECT_EQ(report.profiles[0].id, "a");
  EXPECT_EQ(report.profiles[1].id, "a-2");
}

TEST(Deflated, InflatesToWhatItWas) {
  const std::string bytes(100'000, 'x');
  const std::string small = deflated(bytes);
  EXPECT_LT(small.size(), 1000U);
  std::string back(bytes.size(), '\0');
  uLongf size = back.size();
  ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(back.data()), &size,
                       reinterpret_cast<const Bytef*>(small.data()), small.size()),
            Z_OK);
  EXPECT_EQ(back, bytes);
}

TEST(PageAsset, IsAPage) {
  EXPECT_THAT(std::string(page_asset()), HasSubstr("</body>"));
  EXPECT_LT(page_asset().size(), 1'500'000U);
}

}  // namespace
}  // namespace hone::report
