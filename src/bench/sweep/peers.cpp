// See peers.hpp.
#include "bench/sweep/peers.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "backend/partition/partition_backend.hpp"
#include "backend/registry.hpp"
#include "base/error.hpp"
#include "base/plugin.hpp"
#include "base/plugin_manifest.hpp"
#include "base/spelling.hpp"

namespace hone::bench {
namespace {

/// The folders of peers: in an installed tree, in the source tree of this build, and below the working
/// folder.
std::vector<std::filesystem::path> peer_folders() {
  const std::filesystem::path library = base::library_folder();
  return {library / "../share/hone/peers", library / "../../../bench/peers", "bench/peers"};
}

/// The names of all peers that are found.
std::set<std::string> peer_names() {
  std::set<std::string> names;
  for (const std::filesystem::path& folder : peer_folders()) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      if (std::filesystem::is_regular_file(entry.path() / "worker", ignored))
        names.insert(entry.path().filename().string());
    }
  }
  return names;
}

/// The peer's executable.
std::filesystem::path find_worker(const std::string& backend) {
  if (backend.find('/') != std::string::npos || backend == "." || backend == "..") return {};
  for (const std::filesystem::path& folder : peer_folders()) {
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
    const std::vector<std::string> built_in = backend::backend_names();
    const std::set<std::string> peers = peer_names();
    std::vector<std::string> known = built_in;
    known.insert(known.end(), peers.begin(), peers.end());
    const auto nearest = base::nearest_name(backend, known);
    fail_usage("unknown backend '{}'{} (built in: {}; peers: {}{})", backend,
               nearest ? fmt::format("; did you mean {}?", *nearest) : "", fmt::join(built_in, ", "),
               fmt::join(peers, ", "), has_option_ ? ", or --peer name=command" : "");
  }
  return {worker.string()};
}

}  // namespace hone::bench
