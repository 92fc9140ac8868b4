// See hone/dlpack.hpp.
#include "hone/dlpack.hpp"

#include "api/views.hpp"
#include "tensor/dlpack.hpp"

namespace hone {

TensorView from_dlpack(DLManagedTensorVersioned* tensor) {
  return api::outer_view(tensor::from_dlpack(tensor));
}
TensorView from_dlpack(DLManagedTensor* tensor) { return api::outer_view(tensor::from_dlpack(tensor)); }

DLManagedTensorVersioned* to_dlpack(const TensorView& view) {
  return tensor::to_dlpack(api::inner_view(view));
}

DLManagedTensor* to_unversioned_dlpack(const TensorView& view) {
  return tensor::to_unversioned_dlpack(api::inner_view(view));
}

}  // namespace hone
