// load_model: what a name or a path may be, and what is said when it is wrong.
#include "import/load.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/file.hpp"
#include "tensor/zip.hpp"

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
  EXPECT_THAT(
      error.what(),
      HasSubstr("is neither a file, ONNX (.onnx), darknet (.cfg), TorchScript (.pt, .pth, .ts), nor"));
  EXPECT_THAT(load_error("bert").what(), HasSubstr("did you mean bert_base?"));
  EXPECT_THAT(load_error("dlrm").what(), Not(HasSubstr("did you mean")));
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
  EXPECT_THAT(
      error.what(),
      HasSubstr("model.h5: this is no model that hone reads: ONNX (.onnx), darknet (.cfg), TorchScript "
                "(.pt, .pth, .ts); run and inspect take engines (.hone), too"));
}

TEST(LoadModel, PickleIsRefusedAndZipLoadsWithoutGraph) {
  const Error error = load_error(write_temporary("pickle.pt", "\x80\x02}q").string());
  EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
  EXPECT_THAT(error.what(), HasSubstr("not a TorchScript archive"));
  const std::string archive = tensor::format_zip(std::vector<tensor::ZipContent>{{"script/data.pkl", "}."}});
  const Model model = load_model(write_temporary("script.pt", archive).string());
  EXPECT_EQ(model.name, "script");
  EXPECT_EQ(model.graph, nullptr);
  EXPECT_EQ(load_model(write_temporary("script.torchscript", archive).string()).graph, nullptr);
}

/// tests/cli/archive_test.py has the attacks that somebody would make; this is every accident.
TEST(LoadModel, DamagedArchiveIsBadInputOrHarmless) {
  const std::string sound = tensor::format_zip(std::vector<tensor::ZipContent>{
      {"script/data.pkl", "}."}, {"script/code/script.py", "def"}, {"script/data/0", "0123456789abcdef"}});
  const std::string path = (std::filesystem::path(testing::TempDir()) / "damaged.pt").string();
  int accepted = 0;
  const auto load = [&](const std::string& content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
    try {
      load_model(path);
      ++accepted;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadInput) << error.what();
      EXPECT_THAT(error.what(), HasSubstr("damaged.pt: this is not a TorchScript archive"));
    }
  };
  for (size_t size = 0; size < sound.size(); ++size) load(sound.substr(0, size));
  EXPECT_EQ(accepted, 0);
  for (size_t i = 0; i < sound.size(); ++i) {
    for (const int bit : {0, 7}) {
      std::string content = sound;
      content[i] = static_cast<char>(content[i] ^ (1 << bit));
      load(content);
    }
  }
}

TEST(LoadModel, WeightsGoWithArchitecturesOnly) {
  EXPECT_EQ(load_error("model.onnx", {.weights = "x.safetensors"}).kind(), ErrorKind::kUsage);
}

}  // namespace
}  // namespace hone::importer
