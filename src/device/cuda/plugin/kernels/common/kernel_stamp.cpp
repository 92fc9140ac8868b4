// See kernel_stamp.hpp.
#include "device/cuda/plugin/kernels/common/kernel_stamp.hpp"

namespace hone::device::cuda {
namespace {

thread_local StampSource* stamp_source = nullptr;

}  // namespace

void set_stamp_source(StampSource* source) { stamp_source = source; }

KernelStamp* next_stamp() { return stamp_source == nullptr ? nullptr : stamp_source->next(); }

}  // namespace hone::device::cuda
