// The kernels of the detection family that have their own files.
#pragma once

#include "reference/kernel.hpp"

namespace hone::reference {

// region_pooling.cpp
void roi_align(KernelContext& context);
void max_roi_pool(KernelContext& context);

}  // namespace hone::reference
