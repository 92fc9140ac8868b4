// The emulator itself: small kernels, and those that do something wrong.
#include "device/cuda/emulator/emulator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/common/kernel_stamp.hpp"
#include "device/cuda/plugin/kernels/common/wgmma.cuh"
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"

namespace hone::device::cuda {
namespace {

using emulator::Pace;
using emulator::Schedule;
using testing::HasSubstr;

constexpr uint32_t kBarrier = 1024;  ///< where kernels below have a barrier, from the start of their memory
constexpr int64_t kSharedBytes = 2048;
constexpr int kNumbers = 256;  ///< bytes of them are copied: a KB

struct Params {
  const float* from = nullptr;
  float* to = nullptr;
  bool wrong = false;  ///< leaves out what the kernel is about
};

/// Launches one cluster and returns what it did wrong.
std::string run(void (*kernel)(Params, KernelStamp*), Params params, int threads,
                const Schedule& schedule = {}, int cluster = 1) {
  emulator::set_schedule(schedule);
  GemmLaunch launch;
  launch.function = kernel_address(kernel);
  launch.blocks = launch.cluster = cluster;
  launch.threads = threads;
  launch.shared_bytes = kSharedBytes;
  const cudaError_t status = launch_gemm(launch, &params, {.device = &emulator::properties()});
  std::string faults = emulator::take_faults();
  EXPECT_EQ(status == cudaSuccess, faults.empty());
  return faults;
}

const Schedule kSchedules[] = {
    {Pace::kAtOnce, Pace::kAtOnce, 0}, {Pace::kLate, Pace::kLate, 0}, {Pace::kAnyTime, Pace::kAnyTime, 7}};

/// Copies numbers through shared memory; when wrong, reads them without waiting.
void copy_numbers(Params p, KernelStamp* /*stamp*/) {
  const uint32_t start = ptx::shared_address(memory);
  if (threadIdx.x == 0) {
    ptx::init_barrier(start + kBarrier, 1);
    ptx::fence_barriers();
    ptx::expect_copies(start + kBarrier, kNumbers * 4);
    ptx::copy_bulk(start, p.from, kNumbers * 4, start + kBarrier);
  }
  __syncthreads();
  if (!p.wrong) ptx::wait_barrier(start + kBarrier, 0);
  for (int i = static_cast<int>(threadIdx.x); i < kNumbers; i += static_cast<int>(blockDim.x))
    p.to[i] = reinterpret_cast<const float*>(memory)[i];
}

TEST(Emulator, CopiesArriveWhenTheyAreWaitedFor) {
  std::vector<float> from(kNumbers);
  std::iota(from.begin(), from.end(), 1.0F);
  for (const Schedule& schedule : kSchedules) {
    std::vector<float> to(kNumbers);
    EXPECT_EQ(run(&copy_numbers, {from.data(), to.data()}, 64, schedule), "");
    EXPECT_EQ(to, from);
  }
}

TEST(Emulator, WhoDoesNotWaitForALateCopyReadsNothing) {
  const std::vector<float> from(kNumbers, 1.0F);
  std::vector<float> to(kNumbers);
  run(&copy_numbers, {from.data(), to.data(), true}, 64, {Pace::kLate});
  EXPECT_TRUE(std::isnan(to[0]));
}

/// Shows when it runs twice in one process, as Emulator.repeated does.
TEST(Emulator, NothingIsLeftOfTestsBefore) {
  static const std::vector<float> from(kNumbers, 1.0F);
  std::vector<float> to(kNumbers);
  EXPECT_EQ(run(&copy_numbers, {from.data(), to.data()}, 64), "");
  emulator::busy_ahead(from.data(), from.size() * 4);
}

TEST(Emulator, CopiesOfWhatIsBusyMustWaitForTheKernelAhead) {
  const std::vector<float> from(kNumbers, 1.0F);
  std::vector<float> to(kNumbers);
  emulator::busy_ahead(from.data(), from.size() * 4);
  EXPECT_THAT(run(&copy_numbers, {from.data(), to.data()}, 64),
              HasSubstr("a copy reads ahead of the wait for the kernel before"));
  emulator::busy_ahead(nullptr, 0);
  EXPECT_EQ(run(&copy_numbers, {from.data(), to.data()}, 64), "");
}

/// Waits for a barrier that, when wrong, fewer arrive at than it expects.
void meet_at_barrier(Params p, KernelStamp* /*stamp*/) {
  const uint32_t barrier = ptx::shared_address(memory) + kBarrier;
  if (threadIdx.x == 0) ptx::init_barrier(barrier, p.wrong ? 65 : 64);
  __syncthreads();
  ptx::arrive(barrier);
  ptx::wait_barrier(barrier, 0);
}

TEST(Emulator, ThreadsThatWaitForeverAreNamed) {
  EXPECT_EQ(run(&meet_at_barrier, {}, 64), "");
  EXPECT_THAT(run(&meet_at_barrier, {nullptr, nullptr, true}, 64),
              HasSubstr("all wait: 64 of block 0 for phase 0 of the barrier at 1024"));
}

void arrive_too_often(Params /*p*/, KernelStamp* /*stamp*/) {
  const uint32_t barrier = ptx::shared_address(memory) + kBarrier;
  if (threadIdx.x == 0) {
    ptx::init_barrier(barrier, 2);
    ptx::expect_copies(barrier, 16);
    ptx::arrive(barrier);
    ptx::arrive(barrier);
  }
}

TEST(Emulator, BarriersCountWhoArrives) {
  EXPECT_THAT(run(&arrive_too_often, {}, 32), HasSubstr("too many arrive at the barrier at 1024"));
}

/// When wrong, half of a warp goes another way.
void add_neighbours(Params p, KernelStamp* /*stamp*/) {
  const auto lane = static_cast<float>(threadIdx.x);
  if (p.wrong && threadIdx.x < 16) __syncwarp();
  p.to[threadIdx.x] = lane + ptx::from_neighbour(lane);
}

TEST(Emulator, LanesOfAWarpGoTogether) {
  std::vector<float> sums(32);
  EXPECT_EQ(run(&add_neighbours, {nullptr, sums.data()}, 32), "");
  EXPECT_EQ(sums[6], 13);
  EXPECT_EQ(sums[7], 13);
  EXPECT_THAT(run(&add_neighbours, {nullptr, sums.data(), true}, 32), HasSubstr("lanes of a warp are apart"));
}

/// Rows of 64 columns from shared memory, as stmatrix has written them; when wrong, without a fence.
void multiply_ones(Params p, KernelStamp* /*stamp*/) {
  const uint32_t start = ptx::shared_address(memory);
  constexpr uint32_t kOnes = 0x3c003c00;
  // 64 rows by 16 columns without swizzling: eight rows of 16 bytes each 128.
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t ones[4] = {kOnes, kOnes, kOnes, kOnes};
  ptx::store_matrix_x4(start + threadIdx.x / 32 * 512 + lane * 16, ones);
  if (!p.wrong) ptx::fence_for_copies();
  __syncthreads();
  float sums[16] = {};
  ptx::fence_sums();
  const uint64_t matrix = ptx::plain_descriptor(start, 1024, 128);
  ptx::multiply<__half, 32>(sums, matrix, matrix);
  ptx::commit_products();
  p.to[threadIdx.x] = sums[0];
  ptx::wait_products<0>();
  p.to[threadIdx.x + 128] = sums[0];
}

TEST(Emulator, SumsChangeWhenProductsAreWaitedFor) {
  std::vector<float> sums(256);
  EXPECT_EQ(run(&multiply_ones, {nullptr, sums.data()}, 128), "");
  EXPECT_EQ(sums[5], 0);
  EXPECT_EQ(sums[128 + 5], 16);
}

TEST(Emulator, ProductsReadWhatIsFenced) {
  std::vector<float> sums(256);
  EXPECT_THAT(run(&multiply_ones, {nullptr, sums.data(), true}, 128),
              HasSubstr("a product reads at 0 what thread 0 has written without a fence"));
}

/// When wrong, the threads leave without waiting.
void leave_early(Params p, KernelStamp* /*stamp*/) {
  ptx::copy16(ptx::shared_address(memory) + threadIdx.x * 16, p.from, true);
  ptx::commit_copies();
  if (!p.wrong) ptx::wait_copies<0>();
}

TEST(Emulator, NobodyLeavesCopiesBehind) {
  const std::array<float, 4> from{};
  EXPECT_EQ(run(&leave_early, {from.data()}, 32), "");
  EXPECT_THAT(run(&leave_early, {from.data(), nullptr, true}, 32),
              HasSubstr("a thread ends with copies under way"));
}

/// Each block gives its number to the next one; when wrong, without their barrier.
void pass_on(Params p, KernelStamp* /*stamp*/) {
  auto* const mine = reinterpret_cast<float4*>(memory);
  const auto rank = static_cast<float>(blockIdx.x);
  ptx::sync_cluster();
  if (threadIdx.x == 0) {
    const uint32_t address = ptx::shared_address(memory);
    ptx::store_remote(ptx::address_in_block(address, (blockIdx.x + 1) % gridDim.x),
                      make_float4(rank, 0, 0, 0));
  }
  if (!p.wrong) ptx::sync_cluster();
  if (threadIdx.x == 0) p.to[blockIdx.x] = mine->x;
  ptx::sync_cluster();
}

TEST(Emulator, BlocksOfAClusterSeeEachOthersStoresBehindTheirBarrier) {
  std::vector<float> from(4);
  for (const Schedule& schedule : kSchedules) {
    EXPECT_EQ(run(&pass_on, {nullptr, from.data()}, 32, schedule, 4), "");
    EXPECT_EQ(from, (std::vector<float>{3, 0, 1, 2}));
  }
  run(&pass_on, {nullptr, from.data(), true}, 32, {}, 4);
  EXPECT_TRUE(std::isnan(from[0]));
}

/// Waits for a barrier that another thread arrives at; when wrong, between the halves of the cluster's.
void wait_at_cluster(Params p, KernelStamp* /*stamp*/) {
  const uint32_t barrier = ptx::shared_address(memory);
  if (threadIdx.x == 0) {
    ptx::init_barrier(barrier, 1);
    ptx::fence_barriers();
  }
  __syncthreads();
  ptx::arrive_cluster();
  if (!p.wrong) ptx::wait_cluster();
  if (threadIdx.x == 1) ptx::arrive(barrier);
  if (threadIdx.x == 0) ptx::wait_barrier(barrier, 0);
  if (p.wrong) ptx::wait_cluster();
}

TEST(Emulator, WaitingBeforeTheClustersBarrierIsPassedIsFound) {
  for (const Schedule& schedule : kSchedules) EXPECT_EQ(run(&wait_at_cluster, {}, 32, schedule, 2), "");
  EXPECT_THAT(run(&wait_at_cluster, {nullptr, nullptr, true}, 32, {}, 2),
              HasSubstr("other threads are waited for before the cluster's barrier is passed"));
}

void write_beyond(Params /*p*/, KernelStamp* /*stamp*/) { memory[kSharedBytes + threadIdx.x] = 0; }

TEST(Emulator, WritesBeyondABlocksMemoryAreFound) {
  EXPECT_THAT(run(&write_beyond, {}, 32), HasSubstr("block 0 writes beyond its shared memory"));
}

}  // namespace
}  // namespace hone::device::cuda
