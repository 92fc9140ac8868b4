// Reads from libhone-<name>.json, next to each libhone-<name>.so, what a plugin offers and needs. The build
// installs the manifests of all plugins, even of those that it does not build, so that a missing plugin has a
// name and a remedy.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace hone::base {

struct ManifestBackend {
  std::string name;
  std::vector<std::string> bench;  ///< kinds of devices on which `hone bench` measures it by default
};

struct ManifestDevice {
  std::string name;  ///< name of the kind, as in places
  /// Files that the device's driver creates, at least one of which exists if it is loaded; empty: unknown.
  std::vector<std::string> driver_files;
  std::string without_driver;  ///< the sentence if none of them exists
};

struct PluginManifest {
  std::string name;    ///< "torch" of libhone-torch.so
  std::string remedy;  ///< a clause that says what to do if it is missing or cannot be loaded
  std::vector<ManifestBackend> backends;
  std::vector<ManifestDevice> devices;
};

/// A manifest that cannot be read: what its plugin offers is unknown; everything else works.
struct DamagedManifest {
  std::string name;      ///< of the plugin
  std::string sentence;  ///< names the file, the damage, and what to do
};

struct ManifestFolder {
  std::vector<PluginManifest> readable;  ///< by name
  std::vector<DamagedManifest> damaged;  ///< by name
};

ManifestFolder read_plugin_manifests(const std::filesystem::path& folder);

/// The readable manifests of all plugins, by name; read once.
const std::vector<PluginManifest>& plugin_manifests();
/// The damaged manifests.
const std::vector<DamagedManifest>& damaged_manifests();
/// Call it if something is missing that a plugin may offer: throws an environment error with the sentence of
/// a damaged manifest, if there is one.
void require_readable_manifests();

/// Null if no plugin has this backend.
const PluginManifest* plugin_of_backend(std::string_view backend);

/// A kind of device and its plugin; the pointers are valid as long as the process runs.
struct OfferedDevice {
  const PluginManifest* plugin = nullptr;
  const ManifestDevice* device = nullptr;
};
/// The devices of all plugins, in the order of the plugins.
std::vector<OfferedDevice> offered_devices();

}  // namespace hone::base
