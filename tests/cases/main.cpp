// Registers one test for each case of the files in tests/cases/<pass or importer>/, and runs them.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.hpp"
#include "cases/run_case.hpp"
#include "transform/pass.hpp"

namespace hone::test {
namespace {

const char* program = "";

/// Cases that were read, by folder.
std::map<std::string, std::vector<Case>>& all_cases() {
  static std::map<std::string, std::vector<Case>> cases;
  return cases;
}

class CaseTest : public testing::Test {
 public:
  explicit CaseTest(const Case& test) : test_(test) {}

  void TestBody() override {
    SCOPED_TRACE(fmt::format("{}:{}: {}\nrepeat with: {} --gtest_filter={}.{}", test_.file.string(),
                             test_.line, test_.get("shows"), program, test_.folder, test_.name));
    test_.has("import") ? run_import_case(test_) : run_pass_case(test_);
  }

 private:
  const Case& test_;
};

class UnreadableFile : public testing::Test {
 public:
  explicit UnreadableFile(std::string why) : why_(std::move(why)) {}
  void TestBody() override { FAIL() << why_; }

 private:
  std::string why_;
};

std::vector<std::filesystem::path> entries(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

void read_folder(const std::filesystem::path& folder) {
  const std::string name = folder.filename().string();
  for (const std::filesystem::path& file : entries(folder)) {
    if (file.extension() != ".case") continue;
    try {
      auto cases = read_cases(file, name);
      std::move(cases.begin(), cases.end(), std::back_inserter(all_cases()[name]));
    } catch (const Error& error) {
      const std::string why = error.what();
      testing::RegisterTest(name.c_str(), file.stem().c_str(), nullptr, nullptr, file.c_str(), 1,
                            [why]() -> testing::Test* { return new UnreadableFile(why); });
    }
  }
}

void register_cases() {
  for (const std::filesystem::path& folder : entries(HONE_SOURCE_DIR "/tests/cases")) {
    if (std::filesystem::is_directory(folder)) read_folder(folder);
  }
  for (const auto& [folder, cases] : all_cases()) {
    for (const Case& test : cases) {
      testing::RegisterTest(folder.c_str(), test.name.c_str(), nullptr, nullptr, test.file.c_str(), test.line,
                            [&test]() -> testing::Test* { return new CaseTest(test); });
    }
  }
}

TEST(Cases, EveryPassHasTwoInItsFolder) {
  for (const std::string& name : transform::pass_names()) {
    const auto& cases = all_cases()[name];
    const auto count = std::count_if(cases.begin(), cases.end(), [&](const Case& test) {
      const auto passes = test.passes();
      return std::find(passes.begin(), passes.end(), name) != passes.end();
    });
    EXPECT_GE(count, 2) << "tests/cases/" << name << "/ shows what the pass does and what it refuses";
  }
}

TEST(Cases, SayWhatTheyShowUnderANameOfTheirOwn) {
  for (const auto& [folder, cases] : all_cases()) {
    std::set<std::string> names;
    for (const Case& test : cases) {
      EXPECT_TRUE(names.insert(test.name).second) << folder << "." << test.name << " is there twice";
      EXPECT_FALSE(test.get("shows").empty()) << folder << "." << test.name;
    }
  }
}

}  // namespace
}  // namespace hone::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  hone::test::program = argv[0];
  hone::test::register_cases();
  const int result = RUN_ALL_TESTS();
  hone::test::CaseWriter::get().finish();
  return result;
}
