// DLPack: exchange of tensors between array libraries without copies (https://dmlc.github.io/dlpack). The
// structs have the names and layouts of its C header, version 1, and are outside of the namespace, as there.
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
  /// In elements; null if row-major.
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

/// Returns a view that owns the managed tensor: its deleter is called with the last copy. Usage error for
/// unknown devices, types and versions; the caller then still owns the tensor. The producer has made the
/// elements ready for the stream that was passed to it, so there is no wait.
TensorView from_dlpack(DLManagedTensorVersioned* managed);
/// Accepts the older form, which cannot mark memory as read-only.
TensorView from_dlpack(DLManagedTensor* managed);

/// Returns a managed tensor that keeps the view's owner alive until its deleter is called, and has its
/// read-only flag.
DLManagedTensorVersioned* to_dlpack(const TensorView& view);
/// The older form. Usage error for read-only views, which it cannot express.
DLManagedTensor* to_unversioned_dlpack(const TensorView& view);

/// The handle for a stream number in `__dlpack__(stream=…)` on a GPU: 1 is the legacy default stream, 2 the
/// per-thread default stream, others are handles. Usage error for 0, which is ambiguous, and for negative
/// numbers.
void* dlpack_stream(int64_t number);

}  // namespace hone::tensor
