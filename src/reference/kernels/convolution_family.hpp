// The kernels of the convolution family, one group per file.
#pragma once

#include "reference/kernel.hpp"

namespace hone::reference {

// convolution.cpp
void conv(KernelContext& context);
void conv_transpose(KernelContext& context);

// deform_conv.cpp
void deform_conv(KernelContext& context);

// resize.cpp
void resize(KernelContext& context);

// grid_sample.cpp
void grid_sample(KernelContext& context);
void affine_grid(KernelContext& context);

// col2im.cpp
void col2im(KernelContext& context);

// pooling.cpp
void max_pool(KernelContext& context);
void average_pool(KernelContext& context);
void lp_pool(KernelContext& context);
void max_unpool(KernelContext& context);

// global_pooling.cpp
void global_average_pool(KernelContext& context);
void global_max_pool(KernelContext& context);
void global_lp_pool(KernelContext& context);

}  // namespace hone::reference
