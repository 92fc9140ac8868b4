// The descriptors of cudnn.hpp. Graphs and plans are in cudnn_plan.cpp.
#include "device/cuda/plugin/libraries/cudnn.hpp"

#include <utility>

#include "device/cuda/plugin/libraries/cudnn_errors.hpp"

namespace hone::device::cuda {

std::string cudnn_version() {
  const size_t version = cudnnGetVersion();
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

CudnnDescriptor::CudnnDescriptor(cudnnBackendDescriptorType_t type) {
  check(cudnnBackendCreateDescriptor(type, &descriptor_), "creating a descriptor");
}

CudnnDescriptor::~CudnnDescriptor() {
  if (descriptor_ != nullptr) (void)cudnnBackendDestroyDescriptor(descriptor_);
}

CudnnDescriptor::CudnnDescriptor(CudnnDescriptor&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, nullptr)) {}

CudnnDescriptor& CudnnDescriptor::operator=(CudnnDescriptor&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

CudnnDescriptor& CudnnDescriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                                      int64_t count, const void* values) {
  check(cudnnBackendSetAttribute(descriptor_, name, type, count, values), "setting an attribute");
  return *this;
}

CudnnDescriptor& CudnnDescriptor::set(cudnnBackendAttributeName_t name, int64_t value) {
  return set(name, CUDNN_TYPE_INT64, 1, &value);
}

CudnnDescriptor& CudnnDescriptor::set(cudnnBackendAttributeName_t name, const std::vector<int64_t>& values) {
  return set(name, CUDNN_TYPE_INT64, static_cast<int64_t>(values.size()), values.data());
}

CudnnDescriptor& CudnnDescriptor::set(cudnnBackendAttributeName_t name, const CudnnDescriptor& value) {
  return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value.descriptor_);
}

CudnnDescriptor& CudnnDescriptor::set(cudnnBackendAttributeName_t name, cudnnDataType_t value) {
  return set(name, CUDNN_TYPE_DATA_TYPE, 1, &value);
}

CudnnDescriptor& CudnnDescriptor::set_double(cudnnBackendAttributeName_t name, double value) {
  return set(name, CUDNN_TYPE_DOUBLE, 1, &value);
}

CudnnDescriptor& CudnnDescriptor::set_handle(cudnnBackendAttributeName_t name, cudnnHandle_t handle) {
  return set(name, CUDNN_TYPE_HANDLE, 1, static_cast<const void*>(&handle));
}

CudnnDescriptor& CudnnDescriptor::finalize() {
  check(cudnnBackendFinalize(descriptor_), "finishing a descriptor");
  return *this;
}

}  // namespace hone::device::cuda
