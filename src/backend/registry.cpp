// The registry of backends: those of libhone, and those in the manifests of plugins.
#include "backend/registry.hpp"

#include <algorithm>

#include "backend/hone/hone_backend.hpp"
#include "backend/partition/partition_backend.hpp"
#include "backend/reference/reference_backend.hpp"
#include "base/error.hpp"
#include "base/plugin.hpp"
#include "base/plugin_manifest.hpp"
#include "base/spelling.hpp"
#include "tensor/place.hpp"

namespace hone::backend {
namespace {

struct BuiltIn {
  std::string_view name;
  std::unique_ptr<Backend> (*make)();
};

/// The reference is last in the list of all backends.
constexpr BuiltIn kOwn = {kOwnBackend, make_hone_backend};
constexpr BuiltIn kReference = {"reference", make_reference_backend};

/// The C interface of a plugin with backends: makes a backend with this name, which the caller owns.
using MakeBackend = Backend* (*)(const char* name);
constexpr const char* kMakeBackend = "hone_make_backend";

}  // namespace

std::vector<std::string> backend_names() {
  std::vector<std::string> names = {std::string(kOwn.name)};
  for (const base::PluginManifest& manifest : base::plugin_manifests()) {
    for (const base::ManifestBackend& backend : manifest.backends) names.push_back(backend.name);
  }
  names.emplace_back(kReference.name);
  return names;
}

std::vector<std::string> benchmarked_backends(std::string_view device) {
  const std::string kind = tensor::place_text({tensor::parse_place(device).kind});
  std::vector<std::string> names;
  for (const base::PluginManifest& manifest : base::plugin_manifests()) {
    for (const base::ManifestBackend& backend : manifest.backends) {
      if (std::ranges::find(backend.bench, kind) != backend.bench.end()) names.push_back(backend.name);
    }
  }
  names.emplace_back(kOwn.name);
  return names;
}

void require_backend(std::string_view name) {
  if (partition::is_partition(name)) return;
  const std::vector<std::string> known = backend_names();
  if (std::ranges::find(known, name) != known.end()) return;
  base::require_readable_manifests();
  const auto nearest = base::nearest_name(name, known);
  fail_usage("unknown backend '{}'{} ({})", name, nearest ? fmt::format("; did you mean {}?", *nearest) : "",
             fmt::join(known, ", "));
}

std::unique_ptr<Backend> make_backend(std::string_view name) {
  require_backend(name);
  for (const BuiltIn& entry : {kOwn, kReference}) {
    if (entry.name == name) return entry.make();
  }
  if (partition::is_partition(name)) return partition::make_partition_backend(name);
  const base::PluginManifest* plugin = base::plugin_of_backend(name);
  const auto make = reinterpret_cast<MakeBackend>(base::load_plugin_symbol(plugin->name, kMakeBackend));
  return std::unique_ptr<Backend>(make(std::string(name).c_str()));
}

}  // namespace hone::backend
