// See peers.hpp.
#include "bench/sweep/peers.hpp"

#include <algorithm>
#include <filesystem>

#include "backend/partition/partition_backend.hpp"
#include "backend/registry.hpp"
#include "base/error.hpp"
#include "base/plugin.hpp"
#include "base/plugin_manifest.hpp"

namespace hone::bench {
namespace {

/// The peer's executable: in an installed tree, in the source tree of this build, or below the working
/// folder.
std::filesystem::path find_worker(const std::string& backend) {
  if (backend.find('/') != std::string::npos || backend == "." || backend == "..") return {};
  const std::filesystem::path library = base::library_folder();
  for (const std::filesystem::path& folder :
       {library / "../share/hone/peers", library / "../../../bench/peers",
        std::filesystem::path("bench/peers")}) {
    const std::filesystem::path worker = folder / backend / "worker";
    if (std::filesystem::is_regular_file(worker)) return std::filesystem::canonical(worker);
  }
  return {};
}

/// hone's own worker runs a partition, even if its blocks run on other backends.
bool is_builtin(const std::string& backend) {
  if (backend::partition::is_partition(backend)) return true;
  const std::vector<std::string> names = backend::backend_names();
  return std::find(names.begin(), names.end(), backend) != names.end();
}

}  // namespace

std::string Peers::add(const std::string& definition) {
  const size_t equals = definition.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == definition.size()) {
    fail_usage("--peer needs name=command, not '{}'", definition);
  }
  const std::string name = definition.substr(0, equals);
  if (is_builtin(name)) fail_usage("--peer {}: this name belongs to a built-in backend", name);
  shell_commands_[name] = definition.substr(equals + 1);
  return name;
}

bool Peers::is_external(const std::string& backend) const {
  return shell_commands_.contains(backend) || !is_builtin(backend);
}

Command Peers::command(const std::string& backend) const {
  // With exec, the worker replaces the shell, so that memory and CPU time are read from the right process.
  if (const auto found = shell_commands_.find(backend); found != shell_commands_.end()) {
    return {"/bin/sh", "-c", "exec " + found->second};
  }
  if (is_builtin(backend)) return builtin_;
  const std::filesystem::path worker = find_worker(backend);
  if (worker.empty()) {
    base::require_readable_manifests();
    fail_usage("unknown backend '{}' (built in: {}; external ones: a folder of bench/peers{})", backend,
               fmt::join(backend::backend_names(), ", "), has_option_ ? ", or --peer name=command" : "");
  }
  return {worker.string()};
}

}  // namespace hone::bench
