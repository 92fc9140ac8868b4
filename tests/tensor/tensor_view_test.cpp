// Views: how far they reach, whether they are row-major or share memory, and copies of strided ones.
#include "tensor/tensor_view.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace hone::tensor {
namespace {

TensorView floats(Shape shape, Shape strides, int64_t bytes) {
  static float memory[64];
  TensorView view{.dtype = DType::kFloat32, .shape = std::move(shape), .strides = std::move(strides)};
  view.buffer.data = reinterpret_cast<std::byte*>(memory);
  view.buffer.bytes = bytes;
  return view;
}

TEST(TensorView, RowMajorOnesMayHaveAnyStrideWhereThereIsOneIndex) {
  EXPECT_TRUE(is_row_major(floats({2, 3}, {}, 24)));
  EXPECT_TRUE(is_row_major(floats({2, 3}, {3, 1}, 24)));
  EXPECT_TRUE(is_row_major(floats({2, 1, 3}, {3, 77, 1}, 24)));
  EXPECT_TRUE(is_row_major(floats({0, 3}, {9, 9}, 0)));
  EXPECT_FALSE(is_row_major(floats({2, 3}, {1, 2}, 24)));
  EXPECT_FALSE(is_row_major(floats({2, 3}, {4, 1}, 32)));
  EXPECT_FALSE(is_row_major(floats({2, 3}, {0, 1}, 12)));
}

TEST(TensorView, ReachesToTheEndOfItsLastElement) {
  EXPECT_EQ(extent(floats({2, 3}, {}, 24), "x"), 24);
  EXPECT_EQ(extent(floats({2, 3}, {5, 1}, 32), "x"), 32);
  EXPECT_EQ(extent(floats({2, 3}, {0, 1}, 12), "x"), 12);
  EXPECT_EQ(extent(floats({2, 0}, {7, 7}, 0), "x"), 0);
  EXPECT_EQ(extent(floats({}, {}, 4), "x"), 4);
  EXPECT_THROW(extent(floats({2, 3}, {}, 23), "x"), Error);
  TensorView none = floats({2}, {}, 8);
  none.buffer.data = nullptr;
  EXPECT_THROW(extent(none, "x"), Error);
}

TEST(TensorView, MemoriesOverlapAtOnePlaceAlone) {
  std::byte memory[8];
  const Buffer whole{.data = memory, .bytes = 8};
  Buffer half{.data = memory + 4, .bytes = 4};
  EXPECT_TRUE(overlaps(whole, half));
  EXPECT_FALSE(overlaps({.data = memory, .bytes = 4}, half));
  half.place = {PlaceKind::kCuda};
  EXPECT_FALSE(overlaps(whole, half));
  EXPECT_FALSE(overlaps({.bytes = 8}, {.bytes = 8})) << "there is none yet";
}

TEST(TensorView, StridedCopiesTakeElementsOfAnySizeFromAnyAddress) {
  for (const DType dtype : {DType::kUInt8, DType::kInt16, DType::kFloat32, DType::kInt64}) {
    const size_t size = dtype_size(dtype);
    std::vector<std::byte> from(1 + 12 * size);
    for (size_t i = 0; i < 12 * size; ++i) from[1 + i] = static_cast<std::byte>(i);
    std::vector<std::byte> to(6 * size);
    // Columns 0 to 2 of the 2 upper rows of 3 x 4, transposed.
    copy_strided(from.data() + 1, {1, 4}, to.data(), {3, 2}, dtype);
    for (size_t i = 0; i < 6; ++i) {
      const size_t element = i / 2 + 4 * (i % 2);
      for (size_t byte = 0; byte < size; ++byte)
        EXPECT_EQ(to[i * size + byte], static_cast<std::byte>(element * size + byte));
    }
  }
}

}  // namespace
}  // namespace hone::tensor
