// DLPack: how array libraries hand tensors to each other without copying (https://dmlc.github.io/dlpack). The
// structs are those of its C header, version 1, by their names and layouts; they are no part of a namespace
// there.
#pragma once

#include <cstdint>

#include "tensor/tensor_view.hpp"

extern "C" {

struct DLPackVersion {
  uint32_t major;
  uint32_t minor;
};

struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};

struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  /// Elements; null where they are row-major.
  int64_t* strides;
  uint64_t byte_offset;
};

/// The form before version 1.
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensor* self);
};

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
};

}  // extern "C"

namespace hone::tensor {

/// A view that owns the managed tensor: its deleter is called with the last copy. Usage error for devices,
/// types and versions that are not known here; the tensor is then still the caller's. Its elements lie where
/// the producer has put them for the stream that it was asked for, so nothing is waited for.
TensorView from_dlpack(DLManagedTensorVersioned* managed);
/// Takes a tensor in the older form, which cannot say that memory is read-only.
TensorView from_dlpack(DLManagedTensor* managed);

/// A managed tensor that keeps what the view owns until its deleter is called, and carries its read-only
/// flag.
DLManagedTensorVersioned* to_dlpack(const TensorView& view);
/// The older form. Usage error for read-only views, which it cannot express.
DLManagedTensor* to_unversioned_dlpack(const TensorView& view);

/// The handle that a stream's number in `__dlpack__(stream=…)` stands for on a GPU: 1 the legacy default
/// stream, 2 that of each thread, others the handle itself. Usage error for 0, which could be either, and for
/// numbers below.
void* dlpack_stream(int64_t number);

}  // namespace hone::tensor
