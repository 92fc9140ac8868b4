// See torch_backend.hpp.
#include "backend/torch/torch_backend.hpp"

#include "base/plugin.hpp"

namespace hone::backend {
namespace {

/// The plugin's C interface: a new backend of this name that the caller owns.
using MakeBackend = Backend* (*)(const char* name);

std::unique_ptr<Backend> make_from_plugin(const char* name) {
  void* symbol = base::load_plugin_symbol("torch", "hone_make_torch_backend",
                                          "apt install libtorch-dev, then configure and build hone again");
  return std::unique_ptr<Backend>(reinterpret_cast<MakeBackend>(symbol)(name));
}

}  // namespace

std::unique_ptr<Backend> make_torch_backend() { return make_from_plugin("torch"); }
std::unique_ptr<Backend> make_torchscript_backend() { return make_from_plugin("torchscript"); }
std::unique_ptr<Backend> make_torch_graph_backend() { return make_from_plugin("torch-graph"); }

}  // namespace hone::backend
