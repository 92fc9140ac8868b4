// The post-ops of fused operators, applied to a finished result.
#pragma once

#include "reference/kernel.hpp"

namespace hone::reference {

/// Replaces output 0 by its post-ops' result. Extra operands begin at input `first_extra`; they broadcast to
/// the output. Everything is computed in double and rounded once at the end.
void apply_post_ops(KernelContext& context, size_t first_extra);

}  // namespace hone::reference
