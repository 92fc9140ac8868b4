// The file of threads' calls fills a disk without holes and without writing beyond its end.
#include "trace/collect/threads/plugin/file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "base/temporary_folder.hpp"

namespace hone::trace::threads {
namespace {

/// The soft limit on the size of files, which stands in for a full disk.
void limit_files(rlim_t bytes) {
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = std::min(bytes, limit.rlim_max);
  setrlimit(RLIMIT_FSIZE, &limit);
}

TEST(ThreadsFile, GoesOnWithoutAGapAfterTheDiskWasFull) {
  const base::TemporaryFolder folder;
  setenv("HONE_TRACE_FOLDER", folder.path().c_str(), 1);
  std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_TRUE(prepare_file(1));
  limit_files(rlim_t{2} << 20);
  const Chunk first = take_chunk();
  ASSERT_NE(first.next, nullptr);
  int chunks = 1;
  Chunk last = first;
  for (Chunk chunk = take_chunk(); chunk.next != nullptr; chunk = take_chunk(), ++chunks) last = chunk;
  EXPECT_GT(chunks, 1000);
  EXPECT_LT(chunks, 2048);
  // More requests than the file grows by at a time.
  for (int i = 0; i < 3000; ++i) EXPECT_EQ(take_chunk().next, nullptr);
  limit_files(RLIM_INFINITY);
  const Chunk next = take_chunk();
  ASSERT_NE(next.next, nullptr);
  EXPECT_LT(reinterpret_cast<char*>(next.next) - reinterpret_cast<char*>(last.end), 64);
  next.end[-1].object = 1;  // beyond the end of the file this would kill the program
}

}  // namespace
}  // namespace hone::trace::threads
