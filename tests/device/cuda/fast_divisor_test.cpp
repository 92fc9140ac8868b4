// Division by multiplication against plain division.
#include "device/cuda/plugin/kernels/common/fast_divisor.hpp"

#include <gtest/gtest.h>

#include <random>

namespace hone::device::cuda {
namespace {

constexpr uint32_t kLargest = (1u << 31) - 1;

void expect_exact(uint32_t divisor, uint32_t n) {
  ASSERT_EQ(FastDivisor(divisor).divide(n), n / divisor) << n << " / " << divisor;
}

TEST(FastDivisor, IsExactAroundEveryMultiple) {
  for (uint32_t divisor = 1; divisor <= 2000; ++divisor) {
    for (const uint32_t quotient : {1u, 2u, 3u, 1000u, kLargest / divisor}) {
      const uint64_t multiple = uint64_t{divisor} * quotient;
      for (const uint64_t n : {multiple - 1, multiple, multiple + 1}) {
        if (n <= kLargest) expect_exact(divisor, static_cast<uint32_t>(n));
      }
    }
    expect_exact(divisor, 0);
    expect_exact(divisor, kLargest);
  }
}

TEST(FastDivisor, IsExactForLargeDivisors) {
  std::mt19937 random(7);
  for (int shift = 10; shift < 31; ++shift) {
    for (const uint32_t divisor : {(1u << shift) - 1, 1u << shift, (1u << shift) + 1}) {
      expect_exact(divisor, divisor - 1);
      expect_exact(divisor, divisor);
      expect_exact(divisor, kLargest);
      for (int i = 0; i < 1000; ++i) expect_exact(divisor, random() & kLargest);
    }
  }
  expect_exact(kLargest, kLargest);
  expect_exact(kLargest, kLargest - 1);
}

}  // namespace
}  // namespace hone::device::cuda
