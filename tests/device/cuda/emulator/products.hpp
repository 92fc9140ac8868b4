// Matrix products of a warpgroup.
#pragma once

#include <deque>

#include "device/cuda/emulator/machine.hpp"

namespace hone::device::cuda::emulator {

/// One instruction, as each thread of the warpgroup says it.
struct Product {
  bool commits = false;  ///< ends a group; all else is of products
  bool half = false;     ///< else bfloat16
  int columns = 0;
  bool left_in_registers = false;
  bool across = false;  ///< the right matrix has its depth across rows
  bool bytes = false;   ///< sums are int32, and the depth is twice as long
  bool unsigned_left = false;
  uint64_t left = 0;  ///< descriptor
  uint64_t right = 0;
  int threads = 0;                 ///< that have come to it
  void* sums[kGroupThreads] = {};  ///< of float, or of int32_t
  const uint32_t* left_registers[kGroupThreads] = {};

  bool same(const Product& other) const {
    return commits == other.commits && half == other.half && columns == other.columns &&
           left_in_registers == other.left_in_registers && across == other.across && bytes == other.bytes &&
           unsigned_left == other.unsigned_left && left == other.left && right == other.right;
  }
};

/// The value of 16 bits.
float widen(uint16_t bits, bool half);

/// The products of a warpgroup, in order.
class Warpgroup {
 public:
  explicit Warpgroup(const Block& block) : block_(&block) {}

  /// The running thread comes to `product`, whose sums and registers are its own.
  void issue(const Product& product, void* sums, const uint32_t* left_registers);
  /// It waits until at most `pending` of the groups that it has come to are under way.
  void wait(int pending);
  bool all_done() const { return done_ == list_.size(); }

 private:
  void finish(size_t end);

  const Block* block_;
  std::deque<Product> list_;
  size_t done_ = 0;
  size_t asked_ = 0;  ///< how many somebody waits for
};

}  // namespace hone::device::cuda::emulator
