// Reading the manifests of plugins without loading them.
#include "base/plugin_manifest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/error.hpp"
#include "base/plugin.hpp"
#include "temporary_folder.hpp"

namespace hone::base {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;
using testing::StartsWith;

TEST(PluginManifest, IsFoundByItsFileName) {
  const TemporaryFolder folder;
  folder.write("libhone-b.json",
               R"({"remedy": "install b", "backends": [{"name": "fast", "bench": ["cpu"]}, {"name": "slow"}],
                                     "devices": [{"name": "tpu", "driver_files": ["/dev/tpu"],
                                                  "without_driver": "no TPU"}]})");
  folder.write("libhone-a.json", R"({"remedy": "install a", "later": 1})");
  folder.write("libhone-a.so", "no library");
  folder.write("other.json", "{");
  const std::vector<PluginManifest> found = read_plugin_manifests(folder.path()).readable;
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].name, "a");
  EXPECT_EQ(found[0].remedy, "install a");
  EXPECT_THAT(found[0].backends, IsEmpty());
  EXPECT_EQ(found[1].name, "b");
  ASSERT_EQ(found[1].backends.size(), 2);
  EXPECT_EQ(found[1].backends[0].name, "fast");
  EXPECT_THAT(found[1].backends[0].bench, ElementsAre("cpu"));
  EXPECT_EQ(found[1].backends[1].name, "slow");
  EXPECT_THAT(found[1].backends[1].bench, IsEmpty());
  ASSERT_EQ(found[1].devices.size(), 1);
  EXPECT_EQ(found[1].devices[0].name, "tpu");
  EXPECT_THAT(found[1].devices[0].driver_files, ElementsAre("/dev/tpu"));
  EXPECT_EQ(found[1].devices[0].without_driver, "no TPU");
}

TEST(PluginManifest, ADamagedOneIsNamedAndHidesNoOther) {
  const TemporaryFolder folder;
  folder.write("libhone-b.json", R"({"remedy": "install b"})");
  const auto expect = [&](std::string_view content, const std::string& why) {
    const std::string file = folder.write("libhone-a.json", content).string();
    const ManifestFolder found = read_plugin_manifests(folder.path());
    ASSERT_EQ(found.readable.size(), 1) << content;
    EXPECT_EQ(found.readable[0].name, "b");
    ASSERT_EQ(found.damaged.size(), 1) << content;
    EXPECT_EQ(found.damaged[0].name, "a");
    EXPECT_THAT(found.damaged[0].sentence, StartsWith(file + " is damaged: " + why));
    EXPECT_THAT(found.damaged[0].sentence, EndsWith("; install hone again"));
  };
  expect("", "it is no JSON");
  expect("{", "it is no JSON");
  expect("[]", "");
  expect("{}", "the field remedy is missing");
  expect(R"({"remedy": 1})", "the field remedy is no text");
  expect(R"({"remedy": "install a", "backends": "fast"})", "the field backends is no list");
  expect(R"({"remedy": "install a", "backends": ["fast"]})", "the field backends[0] is no object");
  expect(R"({"remedy": "install a", "devices": [{}]})", "the field devices[0].name is missing");
}

/// The build puts one there for each of its plugins, and for those that it left out.
TEST(PluginManifest, EveryPluginHasOne) {
  std::vector<std::string> names;
  for (const PluginManifest& manifest : plugin_manifests()) names.push_back(manifest.name);
  EXPECT_THAT(damaged_manifests(), IsEmpty());
  EXPECT_NO_THROW(require_readable_manifests());
  EXPECT_THAT(names, testing::IsSupersetOf({"cuda", "image", "inject", "plot", "threads", "torch", "view"}));
  for (const auto& entry : std::filesystem::directory_iterator(library_folder())) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with("libhone-") || !file.ends_with(".so")) continue;
    EXPECT_THAT(names, testing::Contains(entry.path().stem().string().substr(std::strlen("libhone-"))));
  }
}

TEST(PluginManifest, DevicesArePluginsOwn) {
  const std::vector<OfferedDevice> offered = offered_devices();
  ASSERT_EQ(offered.size(), 1);
  EXPECT_EQ(offered[0].device->name, "cuda");
  EXPECT_EQ(offered[0].plugin->name, "cuda");
}

TEST(PluginManifest, AMissingPluginHasARemedy) {
  try {
    plugin_file("nosuch");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_STREQ(error.what(),
                 "the plugin libhone-nosuch.so is not installed (nor is its manifest "
                 "libhone-nosuch.json; install hone again)");
  }
}

}  // namespace
}  // namespace hone::base
