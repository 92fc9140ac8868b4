// Models that are too large for one file are written with their weights beside it, and read back.
#include "import/onnx/export.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "import/onnx/import.hpp"
#include "support/equivalence.hpp"

namespace hone::importer {
namespace {

namespace fs = std::filesystem;

class OnnxExport : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  /// Weights of 16 kB, 256 B and 64 B.
  static graph::Graph layers() {
    test::GraphBuilder b;
    const auto hidden = b.node("MatMul", {b.input("x", {2, 64}), b.random({64, 64})});
    return b.finish({b.node("Add", {hidden, b.random({64})}), b.node("Mul", {hidden, b.random({16, 1, 1})})});
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / fmt::format("onnx_export_{}", ::getpid());
  const fs::path file_ = folder_ / "net.onnx";
};

TEST_F(OnnxExport, PutsLargeWeightsBesideAModelThatIsTooLarge) {
  const graph::Graph graph = layers();
  const ExportedBytes bytes = export_onnx(file_, graph, 17, {}, 8192);
  EXPECT_LT(bytes.model, 8192u);
  EXPECT_EQ(bytes.external, 64u * 64 * sizeof(float)) << "small ones stay";
  EXPECT_EQ(fs::file_size(file_), bytes.model);
  EXPECT_EQ(external_path(file_), folder_ / "net.onnx.data");
  EXPECT_EQ(fs::file_size(external_path(file_)), bytes.external);
  test::expect_equivalent(graph, import_onnx(file_, nullptr));
}

TEST_F(OnnxExport, KeepsOneFileWhereItFits) {
  const ExportedBytes bytes = export_onnx(file_, layers(), 17);
  EXPECT_EQ(bytes.external, 0u);
  EXPECT_FALSE(fs::exists(external_path(file_)));
}

TEST_F(OnnxExport, RefusesWhatIsTooLargeWithoutItsWeights) {
  EXPECT_THROW(export_onnx(file_, layers(), 17, {}, 64), Error);
  EXPECT_FALSE(fs::exists(file_));
  EXPECT_FALSE(fs::exists(external_path(file_)));
}

}  // namespace
}  // namespace hone::importer
