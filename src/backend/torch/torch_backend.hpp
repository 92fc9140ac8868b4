// The backends torch (eager PyTorch) and torchscript, both in the plugin libhone-torch.so.
#pragma once

#include <memory>

#include "backend/backend.hpp"

namespace hone::backend {

/// Environment error with how to get it when the plugin was not built or libtorch is missing.
std::unique_ptr<Backend> make_torch_backend();
std::unique_ptr<Backend> make_torchscript_backend();

}  // namespace hone::backend
