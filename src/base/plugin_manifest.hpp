// Reads what plugins offer and need from libhone-<name>.json next to each libhone-<name>.so. The
// build puts the manifests of all plugins there, of those too that it leaves out, so that their absence has a
// name and a remedy.
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

/// A manifest that cannot be read: what its plugin offers is not known, and everything else works.
struct DamagedManifest {
  std::string name;      ///< of the plugin
  std::string sentence;  ///< names the file, why it is damaged, and what to do
};

struct ManifestFolder {
  std::vector<PluginManifest> readable;  ///< by name
  std::vector<DamagedManifest> damaged;  ///< by name
};

ManifestFolder read_plugin_manifests(const std::filesystem::path& folder);

/// The readable ones of all plugins, by name; read once.
const std::vector<PluginManifest>& plugin_manifests();
/// The others.
const std::vector<DamagedManifest>& damaged_manifests();
/// For who misses something that a plugin may offer: environment error with the sentence of a manifest that
/// is damaged, if one is.
void require_readable_manifests();

/// Null when no plugin has such a backend.
const PluginManifest* plugin_of_backend(std::string_view backend);

/// A kind of device and the plugin that has it; the pointers live as long as the process.
struct OfferedDevice {
  const PluginManifest* plugin = nullptr;
  const ManifestDevice* device = nullptr;
};
/// The devices of all plugins, in the order of the plugins.
std::vector<OfferedDevice> offered_devices();

}  // namespace hone::base
