// The parser of ONNX files.
#include <fstream>
#include <vector>

#include "fake_network.hpp"

namespace fake {
namespace {

std::string read_bytes(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

class FakeError : public nvonnxparser::IParserErrorStub {
 public:
  explicit FakeError(int node) : node_(node) {}
  const char* desc() const noexcept override { return "the fake parser refuses it"; }
  int node() const noexcept override { return node_; }

 private:
  int node_;
};

class FakeParser : public nvonnxparser::IParserStub {
 public:
  explicit FakeParser(INetworkDefinition* network) : network_(static_cast<FakeNetwork&>(*network)) {}
  bool parseFromFile(const char* file, int) noexcept override {
    const auto model = Model::from(read_bytes(file));
    for (size_t i = 0; i < model->graph->nodes.size(); ++i) {
      // The first one ends it, as it ends the library's own.
      if (model->graph->nodes[i].op != variable("FAKE_TENSORRT_REFUSES")) continue;
      errors_.emplace_back(static_cast<int>(i));
      return false;
    }
    network_.impl.take(model);
    return true;
  }
  bool supportsOperator(const char* name) const noexcept override {
    return std::string_view(name) != variable("FAKE_TENSORRT_LACKS");
  }
  int getNbErrors() const noexcept override { return static_cast<int>(errors_.size()); }
  nvonnxparser::IParserError const* getError(int index) const noexcept override {
    return &errors_[static_cast<size_t>(index)];
  }

 private:
  FakeNetwork& network_;
  std::vector<FakeError> errors_;
};

}  // namespace
}  // namespace fake

extern "C" void* createNvOnnxParser_INTERNAL(void* network, void*, int) {
  return new fake::FakeParser(static_cast<nvinfer1::INetworkDefinition*>(network));
}
