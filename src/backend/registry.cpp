// The list of backends.
#include "backend/backend.hpp"
#include "backend/hone/hone_backend.hpp"
#include "backend/reference/reference_backend.hpp"
#include "backend/torch/torch_backend.hpp"

namespace hone::backend {
namespace {

struct Entry {
  std::string_view name;
  std::unique_ptr<Backend> (*make)();
};

constexpr Entry kBackends[] = {
    {"hone", make_hone_backend},
    {"torch", make_torch_backend},
    {"torchscript", make_torchscript_backend},
    {"torch-graph", make_torch_graph_backend},
    {"reference", make_reference_backend},
};

}  // namespace

void Backend::require_device(std::string_view device) const {
  if (device != "cpu") fail_environment("the backend {} runs on the CPU, not on {}", name(), device);
}

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kBackends) names.emplace_back(entry.name);
  return names;
}

std::unique_ptr<Backend> make_backend(std::string_view name) {
  for (const Entry& entry : kBackends) {
    if (entry.name == name) return entry.make();
  }
  fail_usage("unknown backend '{}' ({})", name, fmt::join(backend_names(), ", "));
}

}  // namespace hone::backend
