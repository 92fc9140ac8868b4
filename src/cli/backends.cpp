// `hone backends`: lists the systems that can run models here, and what is missing for the others and for
// other plugins.
#include <fmt/core.h>

#include <memory>

#include "backend/registry.hpp"
#include "base/plugin.hpp"
#include "base/plugin_manifest.hpp"
#include "cli/command.hpp"
#include "cli/engine_options.hpp"

namespace hone::cli {

void add_backends_command(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("backends", "List the backends and whether they are available here");
  const auto device = std::make_shared<std::string>("cpu");
  add_device_option(*command, *device);
  command->callback([device] {
    for (const std::string& name : backend::backend_names()) {
      try {
        const auto backend = backend::make_backend(name);
        backend->require_device(*device);
        fmt::print("{:<12} {}\n", name, backend->version(*device));
      } catch (const Error& error) {
        fmt::print("{:<12} not available: {}\n", name, error.what());
      }
    }
    for (const base::PluginManifest& manifest : base::plugin_manifests()) {
      if (!manifest.backends.empty()) continue;
      try {
        base::plugin_file(manifest.name);
      } catch (const Error& error) {
        fmt::print("{:<12} not available: {}\n", manifest.name, error.what());
      }
    }
    for (const base::DamagedManifest& manifest : base::damaged_manifests())
      fmt::print("{:<12} not available: {}\n", "libhone-" + manifest.name, manifest.sentence);
  });
}

}  // namespace hone::cli
