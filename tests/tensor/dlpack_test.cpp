// DLPack both ways: what is exported comes back, owners live as long as they are needed, and what cannot be
// taken stays the caller's.
#include "tensor/dlpack.hpp"

#include <gtest/gtest.h>

#include <cstddef>

#include "support/usage_error.hpp"

namespace hone::tensor {
namespace {

using test::usage_error;

// The layout is a contract with other programs.
static_assert(sizeof(DLTensor) == 48 && offsetof(DLTensor, byte_offset) == 40);
static_assert(sizeof(DLManagedTensor) == 64 && offsetof(DLManagedTensor, deleter) == 56);
static_assert(sizeof(DLManagedTensorVersioned) == 80 && offsetof(DLManagedTensorVersioned, deleter) == 16 &&
              offsetof(DLManagedTensorVersioned, dl_tensor) == 32);

TensorView some_view(bool read_only) {
  TensorView view = view_of(Tensor::of<float>({1, 2, 3, 4, 5, 6}, {2, 3}));
  view.read_only = read_only;
  return view;
}

/// A tensor of another library, which counts the calls of its deleter.
struct Foreign {
  Foreign() {
    managed.version = {1, 3};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensorVersioned* self) {
      ++static_cast<Foreign*>(self->manager_ctx)->deleted;
    };
    managed.dl_tensor = {.data = elements,
                         .device = {1, 0},
                         .ndim = 2,
                         .dtype = {2, 32, 1},
                         .shape = shape,
                         .strides = strides,
                         .byte_offset = 4};
  }

  float elements[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  int64_t shape[2] = {2, 2};
  int64_t strides[2] = {3, 1};
  int deleted = 0;
  DLManagedTensorVersioned managed{};
};

TEST(Dlpack, WhatIsExportedComesBack) {
  for (const bool read_only : {false, true}) {
    std::weak_ptr<const void> owner;
    {
      TensorView back;
      {
        const TensorView view = some_view(read_only);
        owner = view.buffer.owner;
        back = from_dlpack(to_dlpack(view));
        EXPECT_EQ(back.data(), view.data());
      }
      EXPECT_EQ(back.dtype, DType::kFloat32);
      EXPECT_EQ(back.shape, (Shape{2, 3}));
      EXPECT_EQ(back.strides, (Shape{3, 1}));
      EXPECT_EQ(back.buffer.bytes, 24);
      EXPECT_EQ(back.read_only, read_only);
      EXPECT_FALSE(owner.expired());
    }
    EXPECT_TRUE(owner.expired());
  }
}

TEST(Dlpack, TheOlderFormCannotSayThatMemoryIsReadOnly) {
  const TensorView back = from_dlpack(to_unversioned_dlpack(some_view(false)));
  EXPECT_EQ(back.shape, (Shape{2, 3}));
  EXPECT_FALSE(back.read_only);
  EXPECT_EQ(usage_error([] { to_unversioned_dlpack(some_view(true)); }),
            "read-only memory needs DLPack's versioned struct, which can say so");
}

TEST(Dlpack, ImportsHonourOffsetsStridesAndOwners) {
  Foreign foreign;
  {
    const TensorView view = from_dlpack(&foreign.managed);
    EXPECT_EQ(view.data(), reinterpret_cast<std::byte*>(foreign.elements + 1));
    EXPECT_EQ(view.buffer.bytes, 5 * 4);
    const TensorView copy = view;
    EXPECT_EQ(foreign.deleted, 0);
  }
  EXPECT_EQ(foreign.deleted, 1);
}

TEST(Dlpack, MemoryOfGpusHasItsOrdinal) {
  Foreign foreign;
  foreign.managed.dl_tensor.device = {2, 3};
  EXPECT_EQ(from_dlpack(&foreign.managed).buffer.place, (Place{PlaceKind::kCuda, 3}));
  foreign.managed.dl_tensor.device = {3, 0};
  EXPECT_EQ(from_dlpack(&foreign.managed).buffer.place, Place()) << "pinned memory is the host's";
}

TEST(Dlpack, WhatCannotBeTakenStaysTheCallers) {
  Foreign foreign;
  const auto refusal = [&] { return usage_error([&] { from_dlpack(&foreign.managed); }); };
  foreign.managed.version.major = 2;
  EXPECT_EQ(refusal(), "a DLPack tensor is of version 2.3, this program reads version 1");
  foreign.managed.version.major = 1;
  foreign.managed.dl_tensor.device.device_type = 10;
  EXPECT_EQ(refusal(), "a DLPack tensor is on a device of type 10, which is neither the host nor a CUDA GPU");
  foreign.managed.dl_tensor.device.device_type = 1;
  foreign.managed.dl_tensor.dtype = {5, 64, 1};
  EXPECT_EQ(refusal(),
            "a DLPack tensor has elements of type code 5, 64 bits and 1 lanes, which are not supported");
  foreign.managed.dl_tensor.dtype = {2, 32, 1};
  foreign.strides[0] = -3;
  EXPECT_EQ(refusal(), "a DLPack tensor has a negative stride (-3)");
  foreign.strides[0] = 3;
  foreign.shape[0] = -1;
  EXPECT_EQ(refusal(), "a DLPack tensor has the shape -1x2");
  foreign.managed.dl_tensor.ndim = 1000;
  EXPECT_EQ(refusal(), "a DLPack tensor has 1000 dimensions");
  EXPECT_EQ(foreign.deleted, 0);
}

TEST(Dlpack, StreamsHaveNumbers) {
  EXPECT_EQ(dlpack_stream(1), reinterpret_cast<void*>(1));
  EXPECT_EQ(dlpack_stream(2), reinterpret_cast<void*>(2));
  EXPECT_NE(usage_error([] { dlpack_stream(0); }), "");
  EXPECT_NE(usage_error([] { dlpack_stream(-2); }), "");
}

}  // namespace
}  // namespace hone::tensor
