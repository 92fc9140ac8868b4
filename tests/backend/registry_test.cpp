// The registry of backends against what plugins really have.
#include "backend/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/backend.hpp"
#include "base/error.hpp"
#include "base/plugin.hpp"
#include "base/plugin_manifest.hpp"

namespace hone::backend {
namespace {

using testing::HasSubstr;

TEST(BackendRegistry, ListsThoseOfPluginsBetweenItsOwn) {
  const std::vector<std::string> names = backend_names();
  EXPECT_EQ(names.front(), kOwnBackend);
  EXPECT_EQ(names.back(), "reference");
  EXPECT_THAT(names, testing::IsSupersetOf({"torch", "torchscript", "torch-graph"}));
}

TEST(BackendRegistry, ManifestsSayWhatABenchmarkMeasures) {
  EXPECT_THAT(benchmarked_backends("cpu"), testing::ElementsAre("torch", "torchscript", "hone"));
  EXPECT_THAT(benchmarked_backends("cuda:1"),
              testing::ElementsAre("torch", "torchscript", "torch-graph", "hone"));
}

/// A plugin that is not built has names all the same, and its absence is one sentence.
TEST(BackendRegistry, PluginsHaveWhatTheirManifestsSay) {
  for (const base::PluginManifest& manifest : base::plugin_manifests()) {
    const bool installed =
        std::filesystem::exists(base::library_folder() + "/libhone-" + manifest.name + ".so");
    for (const auto& [name, bench] : manifest.backends) {
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
    EXPECT_THAT(error.what(), HasSubstr("unknown backend 'none'; did you mean hone? (hone, "));
  }
}

}  // namespace
}  // namespace hone::backend
