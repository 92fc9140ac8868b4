// Finds and reads manifests without loading plugins.
#include "base/plugin_manifest.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/plugin.hpp"
#include "base/read_described.hpp"

namespace hone::base {

template <>
struct Description<ManifestBackend> {
  static constexpr std::string_view kName = "ManifestBackend";
  static constexpr std::tuple kFields{
      Field{"name", &ManifestBackend::name, "Name of the backend"},
      later(Field{"bench", &ManifestBackend::bench, "Devices on which a plain benchmark measures it"}),
  };
};

template <>
struct Description<ManifestDevice> {
  static constexpr std::string_view kName = "ManifestDevice";
  static constexpr std::tuple kFields{
      Field{"name", &ManifestDevice::name, "Name of the kind of device"},
      later(Field{"driver_files", &ManifestDevice::driver_files, "One of them is there where a driver is"}),
      later(Field{"without_driver", &ManifestDevice::without_driver,
                  "The sentence for a machine without a driver"}),
  };
};

template <>
struct Description<PluginManifest> {
  static constexpr std::string_view kName = "PluginManifest";
  static constexpr std::tuple kFields{
      Field{"remedy", &PluginManifest::remedy, "What to do where it is missing"},
      later(Field{"backends", &PluginManifest::backends, "Backends that it makes"}),
      later(Field{"devices", &PluginManifest::devices, "Kinds of devices that it has"}),
  };
};

namespace {

constexpr std::string_view kPrefix = "libhone-";
constexpr std::string_view kSuffix = ".json";
constexpr uint64_t kMostBytes = 64u << 10;

void read_manifest(const std::filesystem::path& file, ManifestFolder& folder) {
  const std::string name = file.stem().string().substr(kPrefix.size());
  const auto damaged = [&](std::string_view why) {
    folder.damaged.push_back(
        {name, fmt::format("{} is damaged: {}; install hone again", file.string(), why)});
  };
  try {
    auto manifest = read_described<PluginManifest>(Json::parse(read_file(file, kMostBytes)));
    manifest.name = name;
    folder.readable.push_back(std::move(manifest));
  } catch (const Json::exception&) {
    damaged("it is no JSON");
  } catch (const Error& error) {
    damaged(error.sentence());
  }
}

const ManifestFolder& own_manifests() {
  static const ManifestFolder kFolder = read_plugin_manifests(library_folder());
  return kFolder;
}

}  // namespace

ManifestFolder read_plugin_manifests(const std::filesystem::path& folder) {
  ManifestFolder found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kPrefix) && name.ends_with(kSuffix)) read_manifest(entry.path(), found);
  }
  std::ranges::sort(found.readable, {}, &PluginManifest::name);
  std::ranges::sort(found.damaged, {}, &DamagedManifest::name);
  return found;
}

const std::vector<PluginManifest>& plugin_manifests() { return own_manifests().readable; }

const std::vector<DamagedManifest>& damaged_manifests() { return own_manifests().damaged; }

void require_readable_manifests() {
  if (!damaged_manifests().empty()) fail_environment("{}", damaged_manifests().front().sentence);
}

const PluginManifest* plugin_of_backend(std::string_view backend) {
  for (const PluginManifest& manifest : plugin_manifests()) {
    if (std::ranges::find(manifest.backends, backend, &ManifestBackend::name) != manifest.backends.end())
      return &manifest;
  }
  return nullptr;
}

std::vector<OfferedDevice> offered_devices() {
  std::vector<OfferedDevice> offered;
  for (const PluginManifest& manifest : plugin_manifests()) {
    for (const ManifestDevice& device : manifest.devices) offered.push_back({&manifest, &device});
  }
  return offered;
}

}  // namespace hone::base
