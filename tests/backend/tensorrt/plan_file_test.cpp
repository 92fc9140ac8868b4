// Plans as files: only what this user's hone wrote is taken without being asked for.
#include "backend/tensorrt/plan_file.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "base/error.hpp"
#include "base/file.hpp"
#include "system/scratch.hpp"

namespace hone::backend::tensorrt {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class PlanFile : public testing::Test {
 protected:
  PlanFile() { use_cache("cache"); }
  ~PlanFile() override { ::unsetenv("HONE_CACHE_DIR"); }

  void use_cache(const std::string& name) const {
    ::setenv("HONE_CACHE_DIR", (scratch_.folder() / name).c_str(), /*overwrite=*/1);
  }

  static Plan example() {
    Plan plan;
    plan.bytes = std::string("plan\0with zeros", 15);
    plan.record.model = "net";
    plan.record.precision = "fp16";
    plan.record.tensorrt = "8.6.1";
    plan.record.gpu = "Fake GPU, sm 9.0";
    plan.record.level = 4;
    plan.record.build_seconds = 1.5;
    plan.record.profiles = {{{"x", {1, 3}}}, {{"x", {8, 3}}}};
    return plan;
  }

  system::Scratch scratch_;
  std::filesystem::path file_ = scratch_.folder() / "net.plan";
};

TEST_F(PlanFile, ComesBackAsItWasWritten) {
  write_plan(file_, example());
  const Plan plan = read_plan(file_, /*trusted=*/false);
  EXPECT_TRUE(plan.known);
  EXPECT_EQ(plan.bytes, example().bytes);
  EXPECT_EQ(plan.record.model, "net");
  EXPECT_EQ(plan.record.level, 4);
  EXPECT_EQ(plan.record.build_seconds, 1.5);
  EXPECT_EQ(plan.record.profiles, example().record.profiles);
}

TEST_F(PlanFile, OfSomebodyElseIsTakenOnTrustOnly) {
  write_plan(file_, example());
  use_cache("of another user");
  EXPECT_THAT([&] { read_plan(file_, false); },
              ThrowsMessage<Error>(HasSubstr("is not the file that this user's hone wrote")));
  const Plan plan = read_plan(file_, /*trusted=*/true);
  EXPECT_FALSE(plan.known);
  EXPECT_EQ(plan.record.precision, "fp16");
}

TEST_F(PlanFile, WithAnotherRecordProvesNothing) {
  write_plan(file_, example());
  const std::filesystem::path record = file_.string() + ".json";
  std::string text = base::read_file(record);
  text.replace(text.find("8.6.1"), 5, "8.6.2");
  base::write_file_atomic(record, text);
  EXPECT_THAT([&] { read_plan(file_, false); }, ThrowsMessage<Error>(HasSubstr("add --trust")));
}

TEST_F(PlanFile, WithoutRecordOrBytesIsBadInput) {
  std::ofstream(file_) << "plan";
  EXPECT_THAT([&] { read_plan(file_, false); }, ThrowsMessage<Error>(HasSubstr("net.plan.json is missing")));
  EXPECT_FALSE(read_plan(file_, true).known);
  for (const char* record : {"", "[]", "{", "{}", R"({"proof": 1})"}) {
    std::ofstream(file_.string() + ".json", std::ios::trunc) << record;
    EXPECT_THROW(read_plan(file_, false), Error) << record;
    EXPECT_THROW(read_plan(file_, true), Error) << record;
  }
  std::ofstream(file_, std::ios::trunc);
  EXPECT_THAT([&] { read_plan(file_, true); }, ThrowsMessage<Error>(HasSubstr("is empty")));
  EXPECT_THROW(read_plan(scratch_.folder() / "none.plan", true), Error);
}

TEST_F(PlanFile, KeyIsTheUsersAlone) {
  write_plan(file_, example());
  const auto mode = std::filesystem::status(scratch_.folder() / "cache/tensorrt/key").permissions();
  EXPECT_EQ(mode & (std::filesystem::perms::group_all | std::filesystem::perms::others_all),
            std::filesystem::perms::none);
}

}  // namespace
}  // namespace hone::backend::tensorrt
