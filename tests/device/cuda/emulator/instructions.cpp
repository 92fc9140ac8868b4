// See instructions.hpp.
#include "device/cuda/emulator/instructions.hpp"

#include <array>
#include <cstring>

#include "device/cuda/emulator/device_functions.hpp"
#include "device/cuda/emulator/machine.hpp"
#include "device/cuda/emulator/products.hpp"

namespace hone::device::cuda::emulator {
namespace {

/// Addresses of the cluster: those of a block, with its number behind them.
constexpr int kRankShift = 24;

Machine& machine() { return Machine::get(); }
Block& block() { return machine().block(); }

/// A place in a block of the cluster.
struct Remote {
  Block& block;
  uint32_t address;

  explicit Remote(uint32_t cluster_address)
      : block(machine().block(static_cast<int>(cluster_address >> kRankShift) - 1)),
        address(cluster_address & ((1U << kRankShift) - 1)) {}
  std::byte* at(uint32_t bytes) const {
    if (block.ended()) throw Fault("a block of the cluster is used that has ended");
    return block.at(address, bytes, "another block's access");
  }
};

Warpgroup& warpgroup() {
  const size_t group = machine().thread().index / kGroupThreads;
  if (group >= block().groups.size()) throw Fault("a product by a warpgroup that is not whole");
  return block().groups[group];
}

}  // namespace

uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(static_cast<const unsigned char*>(pointer) - hone::device::cuda::memory) +
         kSharedBase;
}

void wait_for_previous_kernel() { machine().thread().waited_ahead = true; }

void sync_warp() {
  machine().together("__syncwarp", nullptr, [](void* const*) {});
}

void sync_threads(int number, int count) { machine().meet(number, count); }

void arrive_cluster() {
  for (const OperationPointer& store : machine().thread().remote_stores) store->run();
  machine().thread().remote_stores.clear();
  machine().arrive_cluster();
}

void wait_cluster() { machine().wait_cluster(); }

uint32_t from_lane(uint32_t value, int lane) {
  struct Lane {
    uint32_t value;
    int from;
    uint32_t result;
  } mine{value, lane, 0};
  machine().together("shfl", &mine, [](void* const* lanes) {
    for (int i = 0; i < kWarpThreads; ++i) {
      Lane& to = *static_cast<Lane*>(lanes[i]);
      to.result = static_cast<const Lane*>(lanes[to.from])->value;
    }
  });
  return mine.result;
}

bool elected() {
  machine().together("elect", nullptr, [](void* const*) {});
  return machine().thread().lane() == 0;
}

void init_barrier(uint32_t barrier, uint32_t arrivals) {
  if (barrier % 8 != 0) throw Fault("a barrier at no multiple of 8");
  block().at(barrier, 8, "a barrier");
  if (!block().barriers.emplace(barrier, Barrier{arrivals, arrivals}).second)
    throw Fault("a barrier is initialised twice");
}

void fence_barriers() { block().fence_barriers(); }
void arrive(uint32_t barrier) { block().arrive(barrier, 1); }

void arrive_expecting(uint32_t barrier, uint32_t bytes) {
  block().expect(barrier, bytes);
  block().arrive(barrier, 1);
}

void wait_barrier(uint32_t barrier, uint32_t parity) {
  const Barrier& at = block().barrier(barrier);
  const bool for_threads = (at.phase & 1) == parity && at.missing != 0;
  // PTX allows it. Under compute-sanitizer's racecheck nobody passes the cluster's barrier before all do.
  if (for_threads && machine().thread().at_cluster)
    throw Fault("other threads are waited for before the cluster's barrier is passed");
  machine().wait(
      parity == 0 ? "phase 0 of the barrier" : "phase 1 of the barrier",
      [&at, parity] { return (at.phase & 1) != parity; }, barrier);
}

uint32_t address_in_block(uint32_t address, uint32_t rank) { return address | (rank + 1) << kRankShift; }

void store_remote(uint32_t address, const void* value, uint32_t bytes) {
  std::array<std::byte, 16> copy;
  std::memcpy(copy.data(), value, bytes);
  const Remote remote(address);
  std::byte* const to = remote.at(bytes);
  const auto store = std::make_shared<Operation>([=] { std::memcpy(to, copy.data(), bytes); });
  if (machine().schedule().copies == Pace::kAtOnce) return store->run();
  machine().thread().remote_stores.push_back(store);
}

void store_counted(uint32_t address, const void* value, uint32_t bytes, uint32_t barrier) {
  std::array<std::byte, 16> copy;
  std::memcpy(copy.data(), value, bytes);
  const Remote remote(address);
  const Remote counter(barrier);
  remote.at(bytes);
  if (&remote.block != &counter.block) throw Fault("a store is counted by another block than it is for");
  machine().start(
      [=] {
        std::memcpy(remote.at(bytes), copy.data(), bytes);
        counter.block.complete(counter.address, bytes);
      },
      [] {});
}

void load_remote(uint32_t address, void* value, uint32_t bytes) {
  std::memcpy(value, Remote(address).at(bytes), bytes);
}

void load_shared(uint32_t address, void* value, uint32_t bytes) {
  std::memcpy(value, block().at(address, bytes, "a load"), bytes);
}

namespace {

/// A lane's operands of ldmatrix.
struct LoadingLane {
  uint32_t address;
  uint32_t* fragment;
};

}  // namespace

void load_matrix(uint32_t address, uint32_t (&fragment)[4]) {
  LoadingLane mine{address, fragment};
  machine().together("ldmatrix", &mine, [](void* const* lanes) {
    for (int i = 0; i < kWarpThreads; ++i) {
      for (int m = 0; m < 4; ++m) {
        const uint32_t row = static_cast<const LoadingLane*>(lanes[8 * m + i / 4])->address;
        std::memcpy(static_cast<const LoadingLane*>(lanes[i])->fragment + m,
                    block().at(row, 16, "ldmatrix") + i % 4 * 4, 4);
      }
    }
  });
}

namespace {

/// A lane's operands of stmatrix.
struct StoringLane {
  uint32_t address;
  const uint32_t* fragment;
  Thread* thread;
};

}  // namespace

void store_matrix(uint32_t address, const uint32_t (&fragment)[4]) {
  StoringLane mine{address, fragment, &machine().thread()};
  machine().together("stmatrix", &mine, [](void* const* lanes) {
    for (int i = 0; i < kWarpThreads; ++i) {
      const StoringLane& from = *static_cast<const StoringLane*>(lanes[i]);
      for (int m = 0; m < 4; ++m) {
        const uint32_t row = static_cast<const StoringLane*>(lanes[8 * m + i / 4])->address;
        std::memcpy(block().at(row, 16, "stmatrix") + i % 4 * 4, from.fragment + m, 4);
        block().wrote(row + i % 4 * 4, 4, *from.thread);
      }
    }
  });
}

void load_transposed(uint32_t address, uint32_t (&fragment)[4]) {
  LoadingLane mine{address, fragment};
  machine().together("ldmatrix", &mine, [](void* const* lanes) {
    for (int i = 0; i < kWarpThreads; ++i) {
      for (int element = 0; element < 8; ++element) {
        const int matrix = element / 2;
        const uint32_t row =
            static_cast<const LoadingLane*>(lanes[8 * matrix + i % 4 * 2 + element % 2])->address;
        std::memcpy(
            reinterpret_cast<std::byte*>(static_cast<const LoadingLane*>(lanes[i])->fragment + matrix) +
                element % 2 * 2,
            block().at(row, 16, "ldmatrix") + i / 4 * 2, 2);
      }
    }
  });
}

void store_transposed(uint32_t address, const uint32_t* fragment, int matrices) {
  StoringLane mine{address, fragment, &machine().thread()};
  machine().together("stmatrix", &mine, [matrices](void* const* lanes) {
    for (int i = 0; i < matrices * kWarpThreads * 2; ++i) {  // elements
      const int matrix = i / 64;
      const int row = i % 64 / 8;
      const int column = i % 8;
      const StoringLane& from = *static_cast<const StoringLane*>(lanes[row * 4 + column / 2]);
      const auto element = static_cast<uint16_t>(from.fragment[matrix] >> column % 2 * 16);
      const uint32_t to = static_cast<const StoringLane*>(lanes[matrix * 8 + column])->address + row * 2;
      std::memcpy(block().at(to, 2, "stmatrix"), &element, 2);
      block().wrote(to, 2, *from.thread);
    }
  });
}

void multiply_by_warp(MatrixType type, float (&sums)[4], const uint32_t (&left)[4], uint32_t right0,
                      uint32_t right1) {
  struct Lane {
    float* sums;
    const uint32_t* left;
    uint32_t right[2];
  } mine{sums, left, {right0, right1}};
  machine().together("mma", &mine, [type](void* const* lanes) {
    const int depth = type == MatrixType::kTf32 ? 8 : 16;
    float a[16][16];
    float b[16][8];
    for (int i = 0; i < kWarpThreads; ++i) {
      const Lane& lane = *static_cast<const Lane*>(lanes[i]);
      // A register holds one number of 32 bits or two of 16, neighbours along the depth.
      const auto spread = [&](uint32_t bits, int block, const auto& to) {
        if (type == MatrixType::kTf32) {
          bits &= ~0x1fffU;
          std::memcpy(&to(block * 4 + i % 4), &bits, sizeof bits);
          return;
        }
        for (int k = 0; k < 2; ++k)
          to(block * 8 + i % 4 * 2 + k) =
              widen(static_cast<uint16_t>(bits >> (16 * k)), type == MatrixType::kHalf);
      };
      for (int r = 0; r < 4; ++r)
        spread(lane.left[r], r / 2, [&](int k) -> float& { return a[i / 4 + r % 2 * 8][k]; });
      for (int r = 0; r < 2; ++r) spread(lane.right[r], r, [&](int k) -> float& { return b[k][i / 4]; });
    }
    for (int i = 0; i < kWarpThreads; ++i) {
      for (int r = 0; r < 4; ++r) {
        float sum = 0;
        for (int k = 0; k < depth; ++k) sum += a[i / 4 + r / 2 * 8][k] * b[k][i % 4 * 2 + r % 2];
        static_cast<const Lane*>(lanes[i])->sums[r] += sum;
      }
    }
  });
}

void fence_sums() { machine().thread().sums_fenced = true; }

void multiply(bool half, int columns, float* sums, const uint32_t* left_registers, uint64_t left,
              uint64_t right, bool across) {
  Product product;
  product.half = half;
  product.across = across;
  product.columns = columns;
  product.left_in_registers = left_registers != nullptr;
  product.left = left;
  product.right = right;
  warpgroup().issue(product, sums, left_registers);
}

void multiply_bytes(bool unsigned_left, int columns, int32_t* sums, uint64_t left, uint64_t right) {
  Product product;
  product.bytes = true;
  product.unsigned_left = unsigned_left;
  product.columns = columns;
  product.left = left;
  product.right = right;
  warpgroup().issue(product, sums, nullptr);
}

void commit_products() {
  Product product;
  product.commits = true;
  warpgroup().issue(product, nullptr, nullptr);
}

void wait_products(int pending) { warpgroup().wait(pending); }

}  // namespace hone::device::cuda::emulator
