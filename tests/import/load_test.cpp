// load_model: what a name or a path may be, and what is said when it is wrong.
#include "import/load.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.hpp"

namespace hone::importer {
namespace {

using testing::HasSubstr;

Error load_error(const std::string& name, const LoadModelOptions& options = {}) {
  try {
    load_model(name, options);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << name << " loads";
  return Error(ErrorKind::kInternal, "");
}

std::filesystem::path write_temporary(const std::string& name, std::string_view content) {
  const auto path = std::filesystem::path(testing::TempDir()) / name;
  base::write_file_atomic(path, content);
  return path;
}

TEST(LoadModel, UnknownNameListsTheNamesAndTheNearest) {
  const Error error = load_error("resnet-50");
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("efficientnet_b0"));
  EXPECT_THAT(error.what(), HasSubstr("did you mean resnet50?"));
  EXPECT_THAT(load_error("bert").what(), Not(HasSubstr("did you mean")));
}

TEST(LoadModel, MissingFileIsBadInput) {
  for (const char* name : {"no/such/model.onnx", "missing.pt"}) {
    const Error error = load_error(name);
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_THAT(error.what(), HasSubstr("cannot open the file")) << name;
  }
}

TEST(LoadModel, UnknownFileTypeIsBadInput) {
  const Error error = load_error(write_temporary("model.h5", "data").string());
  EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
  EXPECT_THAT(error.what(), HasSubstr("ends neither in .onnx nor in .pt"));
}

TEST(LoadModel, PickleIsRefusedAndZipLoadsWithoutGraph) {
  const Error error = load_error(write_temporary("pickle.pt", "\x80\x02}q").string());
  EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
  EXPECT_THAT(error.what(), HasSubstr("not a TorchScript archive"));
  const Model model = load_model(write_temporary("script.pt", "PK\3\4rest").string());
  EXPECT_EQ(model.name, "script");
  EXPECT_EQ(model.graph, nullptr);
}

TEST(LoadModel, WeightsGoWithArchitecturesOnly) {
  EXPECT_EQ(load_error("model.onnx", {.weights = "x.safetensors"}).kind(), ErrorKind::kUsage);
}

}  // namespace
}  // namespace hone::importer
