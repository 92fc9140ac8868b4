// Tensors of other libraries by DLPack, without copies. The structs are those of DLPack's own header.
#pragma once

#include "hone/tensor.hpp"

extern "C" {
struct DLManagedTensor;
struct DLManagedTensorVersioned;
}

namespace hone {

/// A view that owns the managed tensor: its deleter is called with the last copy. Usage error for devices,
/// types and versions that are not known here; the tensor is then still the caller's. The memory must be
/// ready for the queue that the view is used on: a producer sees to that for the stream it is asked for.
TensorView from_dlpack(DLManagedTensorVersioned* tensor);
/// The form before version 1, which cannot say that memory is read-only.
TensorView from_dlpack(DLManagedTensor* tensor);

/// A managed tensor, which keeps what the view owns until its deleter is called. Whoever reads it waits for
/// the queue that the view was written on.
DLManagedTensorVersioned* to_dlpack(const TensorView& view);
/// The form before version 1. Usage error for memory that is read-only, which it cannot express.
DLManagedTensor* to_unversioned_dlpack(const TensorView& view);

}  // namespace hone
