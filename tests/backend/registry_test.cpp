// The registry of backends against what plugins really have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/backend.hpp"
#include "base/error.hpp"
#include "base/plugin.hpp"
#include "base/plugin_manifest.hpp"

namespace hone::backend {
namespace {

using testing::HasSubstr;

TEST(BackendRegistry, ListsThoseOfPluginsAfterItsOwn) {
  const std::vector<std::string> names = backend_names();
  EXPECT_EQ(names.at(0), kOwnBackend);
  EXPECT_EQ(names.at(1), "reference");
  EXPECT_THAT(names, testing::IsSupersetOf({"torch", "torchscript", "torch-graph"}));
}

/// A plugin that is not built has names all the same, and its absence is one sentence.
TEST(BackendRegistry, PluginsHaveWhatTheirManifestsSay) {
  for (const base::PluginManifest& manifest : base::plugin_manifests()) {
    const bool installed =
        std::filesystem::exists(base::library_folder() + "/libhone-" + manifest.name + ".so");
    for (const std::string& name : manifest.backends) {
      if (installed) {
        EXPECT_EQ(make_backend(name)->name(), name);
        continue;
      }
      try {
        make_backend(name);
        ADD_FAILURE() << name;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
        EXPECT_THAT(error.what(), HasSubstr("is not installed (" + manifest.remedy + ")"));
      }
    }
  }
}

TEST(BackendRegistry, AnUnknownNameIsAUsageError) {
  try {
    make_backend("none");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("unknown backend 'none' (hone, reference, "));
  }
}

}  // namespace
}  // namespace hone::backend
