// Exchanges tensors with other libraries through DLPack, without copies. The structs are those of DLPack's
// own header.
#pragma once

#include "hone/tensor.hpp"

extern "C" {
struct DLManagedTensor;
struct DLManagedTensorVersioned;
}

namespace hone {

/// Returns a view that owns the managed tensor: its deleter is called with the last copy. Usage error for
/// unknown devices, types and versions; the caller then still owns the tensor. The memory must be ready for
/// the queue in which the view is used; the producer ensures that for the stream that was passed to it.
TensorView from_dlpack(DLManagedTensorVersioned* tensor);
/// The form before version 1, which cannot mark memory as read-only.
TensorView from_dlpack(DLManagedTensor* tensor);

/// Returns a managed tensor, which keeps the view's owner alive until its deleter is called. The reader must
/// wait for the queue in which the view was written.
DLManagedTensorVersioned* to_dlpack(const TensorView& view);
/// The form before version 1. Usage error for read-only memory, which it cannot express.
DLManagedTensor* to_unversioned_dlpack(const TensorView& view);

}  // namespace hone
