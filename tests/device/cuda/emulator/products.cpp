// See products.hpp. Formats: PTX ISA 9.0, 9.7.15.5.
#include "device/cuda/emulator/products.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstring>

namespace hone::device::cuda::emulator {
namespace {

constexpr int kRows = 64;
constexpr int kDepth = 16;
constexpr int kByteDepth = 32;

/// A matrix in shared memory, its depth along rows or across them.
class SharedMatrix {
 public:
  SharedMatrix(const Block& block, uint64_t descriptor)
      : block_(block),
        start_(static_cast<uint32_t>(descriptor & 0x3fff) << 4),
        along_depth_(static_cast<uint32_t>(descriptor >> 16 & 0x3fff) << 4),
        along_rows_(static_cast<uint32_t>(descriptor >> 32 & 0x3fff) << 4),
        row_bytes_(descriptor >> 62 == 1   ? 128
                   : descriptor >> 62 == 2 ? 64
                                           : 0) {
    if (descriptor >> 62 > 2) throw Fault("a matrix is swizzled by less than 64 bytes");
    if ((descriptor >> 49 & 7) != 0) throw Fault("a matrix has a base offset");
  }

  /// Elements of kDepth rows of `columns`, up to 64, as they stand in a matrix the other way round.
  void read_across(int columns, bool half, float* to) const {
    for (int k = 0; k < kDepth; ++k) {
      for (int column = 0; column < columns; column += 8) {
        const uint32_t plain = start_ + k / 8 * along_rows_ + k % 8 * 128 + column * 2;
        const uint32_t address = plain ^ (plain >> 3 & 0x70);
        block_.expect_fenced(address, 16, "a product reads");
        const std::byte* const from = block_.at(address, 16, "a product reads");
        for (int i = 0; i < 8; ++i) {
          uint16_t bits;
          std::memcpy(&bits, from + i * 2, sizeof bits);
          to[(column + i) * kDepth + k] = widen(bits, half);
        }
      }
    }
  }

  /// Bytes of `count` rows, [row][kByteDepth].
  void read_bytes(int count, std::byte* to) const {
    for (int row = 0; row < count; ++row) {
      for (int piece = 0; piece < 2; ++piece, to += 16) {
        const uint32_t address = place(row, piece);
        block_.expect_fenced(address, 16, "a product reads");
        std::memcpy(to, block_.at(address, 16, "a product reads"), 16);
      }
    }
  }

  /// Elements of `count` rows, [row][kDepth].
  void read(int count, bool half, float* to) const {
    for (int row = 0; row < count; ++row) {
      for (int piece = 0; piece < 2; ++piece) {
        const uint32_t address = place(row, piece);
        block_.expect_fenced(address, 16, "a product reads");
        const std::byte* const from = block_.at(address, 16, "a product reads");
        for (int i = 0; i < 8; ++i) {
          uint16_t bits;
          std::memcpy(&bits, from + i * 2, sizeof bits);
          *to++ = widen(bits, half);
        }
      }
    }
  }

 private:
  /// Where 16 bytes of a row are.
  uint32_t place(int row, int piece) const {
    const uint32_t group = start_ + row / 8 * along_rows_;
    if (row_bytes_ == 0) return group + row % 8 * 16 + piece * along_depth_;
    const uint32_t address = group + row % 8 * row_bytes_ + piece * 16;
    return address ^ (address >> 3 & (row_bytes_ - 16));
  }

  const Block& block_;
  uint32_t start_;
  uint32_t along_depth_;
  uint32_t along_rows_;
  uint32_t row_bytes_;  ///< what is swizzled, 0 for nothing
};

void left_from_registers(const Product& product, float* to) {
  for (int thread = 0; thread < kGroupThreads; ++thread) {
    const int row = thread / 32 * 16 + thread % 32 / 4;
    for (int i = 0; i < 2; ++i) {
      for (int half = 0; half < 2; ++half) {
        const uint32_t bits = product.left_registers[thread][2 * i + half];
        float* const pair = to + (row + 8 * half) * kDepth + 8 * i + thread % 4 * 2;
        pair[0] = widen(static_cast<uint16_t>(bits), product.half);
        pair[1] = widen(static_cast<uint16_t>(bits >> 16), product.half);
      }
    }
  }
}

/// Row and column of a thread's sum of that number.
std::pair<int, int> place_of(int thread, int sum) {
  return {thread / 32 * 16 + thread % 32 / 4 + sum / 2 % 2 * 8, sum / 4 * 8 + thread % 4 * 2 + sum % 2};
}

void multiply_bytes(const Block& block, const Product& product) {
  std::vector<std::byte> left(kRows * kByteDepth);
  std::vector<std::byte> right(static_cast<size_t>(product.columns) * kByteDepth);
  SharedMatrix(block, product.left).read_bytes(kRows, left.data());
  SharedMatrix(block, product.right).read_bytes(product.columns, right.data());
  const auto number = [](std::byte byte, bool is_unsigned) {
    const auto value = static_cast<uint8_t>(byte);
    return is_unsigned ? int{value} : int{static_cast<int8_t>(value)};
  };
  for (int thread = 0; thread < kGroupThreads; ++thread) {
    for (int i = 0; i < product.columns / 2; ++i) {
      const auto [row, column] = place_of(thread, i);
      int32_t sum = 0;
      for (int k = 0; k < kByteDepth; ++k) {
        sum += number(left[row * kByteDepth + k], product.unsigned_left) *
               number(right[column * kByteDepth + k], false);
      }
      static_cast<int32_t*>(product.sums[thread])[i] += sum;
    }
  }
}

void multiply(const Block& block, const Product& product) {
  if (product.bytes) return multiply_bytes(block, product);
  const int columns = product.columns;
  std::vector<float> left(kRows * kDepth);
  std::vector<float> rows(static_cast<size_t>(columns) * kDepth);
  if (product.left_in_registers) {
    left_from_registers(product, left.data());
  } else {
    SharedMatrix(block, product.left).read(kRows, product.half, left.data());
  }
  const SharedMatrix of_right(block, product.right);
  if (product.across) {
    of_right.read_across(columns, product.half, rows.data());
  } else {
    of_right.read(columns, product.half, rows.data());
  }
  std::vector<float> right(rows.size());  // the other way round, so that the loop below runs along memory
  for (int k = 0; k < kDepth; ++k) {
    for (int column = 0; column < columns; ++column) right[k * columns + column] = rows[column * kDepth + k];
  }
  std::vector<float> sums(static_cast<size_t>(kRows) * columns);
  for (int row = 0; row < kRows; ++row) {
    for (int k = 0; k < kDepth; ++k) {
      const float factor = left[row * kDepth + k];
      for (int column = 0; column < columns; ++column)
        sums[row * columns + column] += factor * right[k * columns + column];
    }
  }
  for (int thread = 0; thread < kGroupThreads; ++thread) {
    for (int i = 0; i < columns / 2; ++i) {
      const auto [row, column] = place_of(thread, i);
      static_cast<float*>(product.sums[thread])[i] += sums[row * columns + column];
    }
  }
}

}  // namespace

float widen(uint16_t bits, bool half) {
  if (half) return __half2float(__ushort_as_half(bits));
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

void Warpgroup::issue(const Product& product, void* sums, const uint32_t* left_registers) {
  Machine& machine = Machine::get();
  Thread& thread = machine.thread();
  if (!product.commits && !thread.sums_fenced) throw Fault("a product without a fence behind the last wait");
  if (thread.products == list_.size()) list_.push_back(product);
  const size_t at = thread.products++;
  Product& shared = list_[at];
  if (!shared.same(product)) throw Fault("threads of a warpgroup multiply different matrices");
  const int place = thread.index % kGroupThreads;
  shared.sums[place] = sums;
  shared.left_registers[place] = left_registers;
  if (++shared.threads < kGroupThreads || shared.commits) return;
  const Pace pace = machine.schedule().products;
  if (pace != Pace::kLate)
    machine.start_at(pace, std::make_shared<Operation>([this, at] { finish(at + 1); }));
}

void Warpgroup::finish(size_t end) {
  for (; done_ < end; ++done_) {
    if (!list_[done_].commits) multiply(*block_, list_[done_]);
  }
}

void Warpgroup::wait(int pending) {
  Machine& machine = Machine::get();
  Thread& thread = machine.thread();
  thread.sums_fenced = false;
  size_t end = thread.products;
  for (int later = 0; end != 0; --end) {
    if (list_[end - 1].commits && later++ == pending) break;
  }
  if (end == 0) return;
  machine.wait("the threads of its warpgroup", [&] { return list_[end - 1].threads == kGroupThreads; });
  if (end > asked_) {
    asked_ = end;
    machine.start_at(machine.schedule().products, std::make_shared<Operation>([this, end] { finish(end); }));
  }
  machine.wait("its products", [&] { return done_ >= end; });
}

}  // namespace hone::device::cuda::emulator
