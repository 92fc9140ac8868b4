// Finds and reads manifests; no plugin is loaded for it.
#include "base/plugin_manifest.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/plugin.hpp"
#include "base/read_described.hpp"

namespace hone::base {

template <>
struct Description<PluginManifest> {
  static constexpr std::string_view kName = "PluginManifest";
  static constexpr std::tuple kFields{
      Field{"remedy", &PluginManifest::remedy, "What to do where it is missing"},
      later(Field{"backends", &PluginManifest::backends, "Backends that it makes"}),
  };
};

namespace {

constexpr std::string_view kPrefix = "libhone-";
constexpr std::string_view kSuffix = ".json";
constexpr uint64_t kMostBytes = 64u << 10;

PluginManifest read_manifest(const std::filesystem::path& file) {
  try {
    auto manifest = read_described<PluginManifest>(Json::parse(read_file(file, kMostBytes)));
    manifest.name = file.stem().string().substr(kPrefix.size());
    return manifest;
  } catch (const Json::exception&) {
    fail_environment("{} is damaged: it is no JSON", file.string());
  } catch (const Error& error) {
    fail_environment("{} is damaged: {}", file.string(), error.sentence());
  }
}

}  // namespace

std::vector<PluginManifest> read_plugin_manifests(const std::filesystem::path& folder) {
  std::vector<PluginManifest> manifests;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kPrefix) && name.ends_with(kSuffix))
      manifests.push_back(read_manifest(entry.path()));
  }
  std::ranges::sort(manifests, {}, &PluginManifest::name);
  return manifests;
}

const std::vector<PluginManifest>& plugin_manifests() {
  static const std::vector<PluginManifest> kManifests = read_plugin_manifests(library_folder());
  return kManifests;
}

const PluginManifest* plugin_of_backend(std::string_view backend) {
  for (const PluginManifest& manifest : plugin_manifests()) {
    if (std::ranges::find(manifest.backends, backend) != manifest.backends.end()) return &manifest;
  }
  return nullptr;
}

}  // namespace hone::base
