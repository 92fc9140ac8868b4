// What plugins offer and need, from libhone-<name>.json beside each libhone-<name>.so. The build puts the
// manifests of all plugins there, of those too that it leaves out, so that their absence has a name and a
// remedy.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace hone::base {

struct PluginManifest {
  std::string name;                   ///< "torch" of libhone-torch.so
  std::string remedy;                 ///< what to do where it is missing or cannot be loaded, as a clause
  std::vector<std::string> backends;  ///< that it makes
};

/// Of all plugins, by name; read once. Environment error that names the file for one that is damaged.
const std::vector<PluginManifest>& plugin_manifests();
/// The same of another folder.
std::vector<PluginManifest> read_plugin_manifests(const std::filesystem::path& folder);

/// Null when no plugin has such a backend.
const PluginManifest* plugin_of_backend(std::string_view backend);

}  // namespace hone::base
