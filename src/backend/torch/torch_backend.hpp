// The backends torch (eager PyTorch), torchscript and torch-graph (eager, captured in a CUDA graph), all in
// the plugin libhone-torch.so.
#pragma once

#include <memory>

#include "backend/backend.hpp"

namespace hone::backend {

/// Environment error with how to get it when the plugin was not built or libtorch is missing.
std::unique_ptr<Backend> make_torch_backend();
std::unique_ptr<Backend> make_torchscript_backend();
/// Environment error also when libtorch was built without CUDA.
std::unique_ptr<Backend> make_torch_graph_backend();

}  // namespace hone::backend
