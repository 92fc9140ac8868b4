// Writing files: old or new and nothing else, whatever goes wrong.
#include "base/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <optional>

#include "base/error.hpp"

namespace hone::base {
namespace {

using testing::HasSubstr;

class WriteFile : public testing::Test {
 protected:
  WriteFile()
      : folder_(std::filesystem::path(testing::TempDir()) /
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~WriteFile() override { std::filesystem::remove_all(folder_); }

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      result.push_back(entry.path().filename().string());
    return result;
  }

  std::filesystem::path folder_;
};

/// The sentence of the environment error that it must end in.
std::string failure(const std::function<void()>& action, ErrorKind kind = ErrorKind::kEnvironment) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

TEST_F(WriteFile, ReplacesTheOldContentAndLeavesNothingElse) {
  write_file_atomic(folder_ / "a", "old and longer");
  write_file_atomic(folder_ / "a", "new");
  EXPECT_EQ(read_file(folder_ / "a"), "new");
  EXPECT_THAT(names(), testing::ElementsAre("a"));
}

TEST_F(WriteFile, TakesTheLongestNameAndRefusesALongerOneBeforehand) {
  constexpr size_t kLongest = 255;
  const std::string name(kLongest, 'n');
  const std::string taken = fmt::format(".hone.{}.1", ::getpid());
  write_file_atomic(folder_ / taken, "of another");
  write_file_atomic(folder_ / name, "new");
  EXPECT_EQ(read_file(folder_ / name), "new");
  EXPECT_EQ(read_file(folder_ / taken), "of another");
  EXPECT_THAT(names(), testing::UnorderedElementsAre(name, taken));
  EXPECT_THAT(failure([&] { check_writable(folder_ / (name + "n")); }), HasSubstr("File name too long"));
}

TEST_F(WriteFile, AFullDiskLeavesTheOldFile) {
  write_file_atomic(folder_ / "a", "old");
  // A limit on the size of files stands for the full disk: both fail in write().
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string sentence =
      failure([&] { write_file_atomic(folder_ / "a", std::string(size_t{1} << 16, 'x')); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(sentence, HasSubstr("a: cannot write the file: File too large"));
  EXPECT_EQ(read_file(folder_ / "a"), "old");
  EXPECT_THAT(names(), testing::ElementsAre("a"));
}

TEST_F(WriteFile, RefusesWhatIsNoRegularFile) {
  const auto pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& action :
       {std::function([&] { write_file_atomic(pipe, "x"); }), std::function([&] { check_writable(pipe); })}) {
    EXPECT_THAT(failure(action), HasSubstr("pipe: cannot write the file: it is not a regular file"));
  }
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_THAT(failure([&] { check_writable(folder_); }), HasSubstr("it is a directory"));
  EXPECT_THAT(failure([] { check_writable("/dev/full"); }), HasSubstr("it is not a regular file"));
}

/// Opening a pipe would wait for somebody who writes to it.
TEST_F(WriteFile, ReadsNoPipe) {
  const auto pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& action :
       {std::function([&] { read_file(pipe); }), std::function([&] { MappedFile{pipe}; })})
    EXPECT_THAT(failure(action, ErrorKind::kBadInput), HasSubstr("pipe: this is not a regular file"));
}

TEST_F(WriteFile, ChecksTheFolderBeforehand) {
  check_writable(folder_ / "a");
  EXPECT_THAT(names(), testing::IsEmpty());
  EXPECT_THAT(failure([&] { check_writable(folder_ / "missing" / "a"); }),
              HasSubstr(fmt::format("missing/a: cannot write the file: there is no folder {0} (mkdir -p {0})",
                                    (folder_ / "missing").string())));
  EXPECT_THAT(failure([&] { check_writable("no such/a"); }), HasSubstr("(mkdir -p 'no such')"));
  EXPECT_THAT(failure([] { check_writable("/proc/a"); }), HasSubstr("its folder takes no new files"));
  write_file_atomic(folder_ / "a", "old");
  check_writable(folder_ / "a");
  EXPECT_EQ(read_file(folder_ / "a"), "old");
  EXPECT_THAT(failure([&] { check_writable(folder_ / "a" / "b"); }), HasSubstr("Not a directory"));
}

TEST_F(WriteFile, ReservedNameIsTakenUntilItIsGivenBackEmpty) {
  {
    const ReservedFile first(folder_ / "run.json");
    const ReservedFile second(folder_ / "run.json");
    const ReservedFile third(folder_ / "run.json");
    EXPECT_EQ(first.path(), folder_ / "run.json");
    EXPECT_EQ(second.path(), folder_ / "run-2.json");
    EXPECT_EQ(third.path(), folder_ / "run-3.json");
    write_file_atomic(second.path(), "kept");
  }
  EXPECT_THAT(names(), testing::ElementsAre("run-2.json"));
  EXPECT_THAT(failure([&] { ReservedFile(folder_ / "no folder" / "run.json"); }),
              HasSubstr("cannot write the file"));
}

/// An environment without folders of the user; what it was before at the end.
class Homeless : public WriteFile {
 protected:
  Homeless() {
    for (const char* name : kNames) {
      const char* value = std::getenv(name);
      before_.push_back(value == nullptr ? std::nullopt : std::optional<std::string>(value));
      ::unsetenv(name);
    }
    ::setenv("TMPDIR", folder_.c_str(), 1);
    mine_ = folder_ / ("hone-cache-" + std::to_string(::geteuid()));
  }
  ~Homeless() override {
    for (size_t i = 0; i < std::size(kNames); ++i) {
      if (before_[i]) ::setenv(kNames[i], before_[i]->c_str(), 1);
      if (!before_[i]) ::unsetenv(kNames[i]);
    }
  }

  static constexpr const char* kNames[] = {"HONE_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "TMPDIR"};
  std::vector<std::optional<std::string>> before_;
  std::filesystem::path mine_;
};

TEST_F(Homeless, HasACacheOfItsOwn) {
  EXPECT_EQ(cache_directory(), mine_);
  struct stat info {};
  ASSERT_EQ(::lstat(mine_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  EXPECT_EQ(cache_directory(), mine_) << "there already";
}

TEST_F(Homeless, TrustsNoFolderThatOthersMayWriteIn) {
  std::filesystem::create_directory(mine_);
  ASSERT_EQ(::chmod(mine_.c_str(), 0777), 0);
  EXPECT_TRUE(cache_directory().empty());
  std::filesystem::remove(mine_);
  std::filesystem::create_directory_symlink(folder_, mine_);
  EXPECT_TRUE(cache_directory().empty());
}

TEST_F(Homeless, IgnoresARelativeCacheHome) {
  ::setenv("HOME", "/myhome", 1);
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(cache_directory(), "/myhome/.cache/hone");
  ::setenv("XDG_CACHE_HOME", "/absolute", 1);
  EXPECT_EQ(cache_directory(), "/absolute/hone");
}

}  // namespace
}  // namespace hone::base
