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
using testing::StartsWith;

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
  EXPECT_THAT(error.what(), StartsWith("'resnet-50' is neither a file nor a built-in architecture; did you "
                                       "mean resnet50? Files are ONNX (.onnx), darknet (.cfg), TorchScript "
                                       "(.pt, .pth, .ts); architectures are resnet18, "));
  EXPECT_THAT(load_error("yolov4-tiny").what(), HasSubstr("did you mean yolov4_tiny?"));
  EXPECT_THAT(load_error("bert").what(), HasSubstr("did you mean bert_base?"));
  EXPECT_THAT(load_error("dlrm").what(), Not(HasSubstr("did you mean")));
}

TEST(LoadModel, TakesSizesOfDimensionsByTheirNames) {
  EXPECT_EQ(load_model("bilstm", {.sizes = {{"frames", 64}}}).metadata.at("size.frames"), "64");
  const Error error = load_error("resnet18", {.sizes = {{"seq", 64}}});
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_STREQ(error.what(), "--dim seq=64: the open dimensions of resnet18 are batch");
}

TEST(LoadModel, MissingFileIsBadInput) {
  for (const char* name : {"no/such/model.onnx", "missing.pt", "missing.hone", "no/such/model.odd"}) {
    const Error error = load_error(name);
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_THAT(error.what(), HasSubstr("cannot open the file")) << name;
  }
}

TEST(LoadModel, UnknownFileTypeIsBadInput) {
  const Error error = load_error(write_temporary("model.odd", "data").string());
  EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
  EXPECT_THAT(
      error.what(),
      HasSubstr(
          "model.odd: this is text, not a model that hone reads: ONNX (.onnx), darknet (.cfg), TorchScript "
          "(.pt, .pth, .ts); bench, profile, run and inspect take engines (.hone), too"));
}

TEST(LoadModel, NamesFilesOfOtherToolsAndTheLineToType) {
  const auto zip = [](const std::vector<tensor::ZipContent>& members) { return tensor::format_zip(members); };
  const std::string module = "\x80\x02 torch.nn.modules.linear _parameters _modules";
  const std::vector<std::tuple<const char*, std::string, const char*, const char*>> cases = {
      {"net.pth", zip({{"net/data.pkl", module}}), "a network that torch.save pickled", "torch.load(\"/"},
      {"best.pt", zip({{"best/data.pkl", module + " ultralytics.nn.tasks DetectionModel"}}),
       "a checkpoint of Ultralytics", "yolo export model=/"},
      {"old.pt", module, "a network that torch.save pickled", "torch.onnx.export(m, "},
      {"state.pt", zip({{"archive/data.pkl", "\x80\x02 OrderedDict"}}),
       "a state_dict that torch.save pickled", "net.load_state_dict("},
      {"net.pt2", zip({{"net/models/model.json", "{}"}}), "a program of torch.export",
       "torch.export.load(\"/"},
      {"early.pt2", zip({{"serialized_exported_program.json", "{}"}}), "a program of torch.export",
       "f=\"early.onnx\""},
      {"net.keras", zip({{"config.json", "{}"}, {"model.weights.h5", ""}}), "a Keras model",
       "format=\"onnx\""},
      {"net.h5", "\x89HDF\r\n\x1a\n", "a Keras model", "keras.saving.load_model("},
      {"net.tflite", std::string("\x1c\0\0\0TFL3", 8), "a TensorFlow Lite model", "tf2onnx.convert --tflite"},
      {"net.pb", "x", "a graph of TensorFlow", "tf2onnx.convert --graphdef"},
      {"net.mlmodel", "x", "a Core ML model", "export the model that it was made from to ONNX"},
      {"net.engine", "x", "an engine of TensorRT", "the ONNX file that it was built from"},
      {"net.safetensors", std::string("\x80\0\0\0\0\0\0\0{}", 10), "parameters without a network",
       "--weights /"},
      {"net.gguf", "GGUF", "a GGUF file", "optimum-cli export onnx"}};
  for (const auto& [name, content, what, line] : cases) {
    const Error error = load_error(write_temporary(name, content).string());
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput) << name;
    EXPECT_THAT(error.what(), AllOf(HasSubstr(what), HasSubstr(line)));
  }
}

TEST(LoadModel, NamesFoldersOfOtherTools) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "saved model";
  std::filesystem::create_directories(folder);
  EXPECT_THAT(load_error(folder.string()).what(), HasSubstr("it is a directory"));
  std::ofstream(folder / "config.json") << "{}";
  EXPECT_THAT(load_error(folder.string()).what(), HasSubstr("optimum-cli export onnx --model '/"));
  std::ofstream(folder / "saved_model.pb") << "x";
  EXPECT_THAT(load_error(folder.string()).what(), HasSubstr("tf2onnx.convert --saved-model '/"));
  std::filesystem::remove_all(folder);
}

TEST(LoadModel, TellsPickledParametersFromSafetensors) {
  LoadModelOptions options;
  options.weights = write_temporary("state.pth", "\x80\x02 OrderedDict");
  try {
    load_model("alexnet", options);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_THAT(error.what(),
                HasSubstr("not safetensors; convert them: python3 -c 'import torch, safetensors.torch"));
  }
}

TEST(LoadModel, PickleIsRefusedAndZipLoadsWithoutGraph) {
  const Error error = load_error(write_temporary("pickle.pt", "\x80\x02}q").string());
  EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
  EXPECT_THAT(error.what(), HasSubstr("these are parameters without a network"));
  const std::string archive = tensor::format_zip(
      std::vector<tensor::ZipContent>{{"script/data.pkl", "}."}, {"script/code/net.py", "def forward: ..."}});
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
      // Whoever damages the name of the code leaves what torch.save writes.
      EXPECT_THAT(error.what(), AnyOf(HasSubstr("damaged.pt: this is not a TorchScript archive"),
                                      HasSubstr("damaged.pt: these are parameters without a network")));
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
