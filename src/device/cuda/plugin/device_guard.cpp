// See device_guard.hpp.
#include "device/cuda/plugin/device_guard.hpp"

#include "device/cuda/plugin/driver_functions.hpp"

namespace hone::device::cuda {
namespace {

/// Null if there is no driver.
struct ContextStack {
  decltype(&cuCtxPushCurrent) push = nullptr;
  decltype(&cuCtxPopCurrent) pop = nullptr;
  decltype(&cuCtxGetCurrent) top = nullptr;
};

/// The driver belongs to the process, so its functions are looked up once.
const ContextStack& context_stack() {
  static const ContextStack kStack{find_driver_function<decltype(&cuCtxPushCurrent)>("cuCtxPushCurrent"),
                                   find_driver_function<decltype(&cuCtxPopCurrent)>("cuCtxPopCurrent"),
                                   find_driver_function<decltype(&cuCtxGetCurrent)>("cuCtxGetCurrent")};
  return kStack;
}

/// If the context cannot be entered, the calls that follow fail with their own errors.
bool enter(CUcontext context) {
  return context_stack().push != nullptr && context_stack().push(context) == CUDA_SUCCESS;
}

}  // namespace

DeviceGuard::DeviceGuard(CUcontext context) : context_(context) {
  if (context_ == nullptr) return;
  if (context_ == current_context() || !enter(context_)) context_ = nullptr;
}

DeviceGuard::~DeviceGuard() {
  CUcontext left = nullptr;
  if (context_ != nullptr) (void)context_stack().pop(&left);
}

CUcontext current_context() {
  CUcontext context = nullptr;
  const auto top = context_stack().top;
  return top != nullptr && top(&context) == CUDA_SUCCESS ? context : nullptr;
}

}  // namespace hone::device::cuda
