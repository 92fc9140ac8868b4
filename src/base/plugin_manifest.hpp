// What plugins offer and need, from libhone-<name>.json beside each libhone-<name>.so. The build puts the
// manifests of all plugins there, of those too that it leaves out, so that their absence has a name and a
// remedy.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace hone::base {

struct ManifestBackend {
  std::string name;
  std::vector<std::string> bench;  ///< kinds of devices on which a plain `hone bench` measures it
};

struct ManifestDevice {
  std::string name;  ///< of the kind, as places have it
  /// Some of the files that the device's driver makes, one of which is there where it is loaded; empty: not
  /// known.
  std::vector<std::string> driver_files;
  std::string without_driver;  ///< the sentence where none of them is
};

struct PluginManifest {
  std::string name;    ///< "torch" of libhone-torch.so
  std::string remedy;  ///< what to do where it is missing or cannot be loaded, as a clause
  std::vector<ManifestBackend> backends;
  std::vector<ManifestDevice> devices;
};

/// Of all plugins, by name; read once. Environment error that names the file for one that is damaged.
const std::vector<PluginManifest>& plugin_manifests();
/// The same of another folder.
std::vector<PluginManifest> read_plugin_manifests(const std::filesystem::path& folder);

/// Null when no plugin has such a backend.
const PluginManifest* plugin_of_backend(std::string_view backend);

/// A kind of device and the plugin that has it; the pointers live as long as the process.
struct OfferedDevice {
  const PluginManifest* plugin = nullptr;
  const ManifestDevice* device = nullptr;
};
/// Of all plugins, in their order.
std::vector<OfferedDevice> offered_devices();

}  // namespace hone::base
