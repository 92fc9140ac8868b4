#include "fake_common.hpp"

#include <cstdlib>
#include <fstream>

#include "system/scratch.hpp"

namespace fake {
namespace {

constexpr int kDefaultVersion = NV_TENSORRT_MAJOR < 10 ? 8601 : NV_TENSORRT_MAJOR * 10000 + 100;

}  // namespace

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int version() {
  const std::string set = variable("FAKE_TENSORRT_VERSION");
  return set.empty() ? kDefaultVersion : std::stoi(set);
}

DataType data_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return DataType::kHALF;
    case DType::kInt8: return DataType::kINT8;
    case DType::kUInt8: return DataType::kUINT8;
    case DType::kBool: return DataType::kBOOL;
    case DType::kInt32: return DataType::kINT32;
#if NV_TENSORRT_MAJOR >= 10
    case DType::kBFloat16: return DataType::kBF16;
    case DType::kInt64: return DataType::kINT64;
#else
    case DType::kInt64: return DataType::kINT32;
#endif
    default: return DataType::kFLOAT;
  }
}

DType host_type(DataType type, DType model) {
  return type == DataType::kINT32 && model == DType::kInt64 ? DType::kInt32 : model;
}

Dims to_dims(const hone::tensor::Shape& shape) {
  Dims dims{};
  dims.nbDims = static_cast<int32_t>(shape.size());
  for (size_t i = 0; i < shape.size(); ++i)
    dims.d[i] = static_cast<std::remove_reference_t<decltype(dims.d[0])>>(shape[i]);
  return dims;
}

hone::tensor::Shape to_shape(const Dims& dims) { return {dims.d, dims.d + dims.nbDims}; }

hone::tensor::Shape declared_shape(const Graph& graph, hone::graph::ValueId id) {
  hone::tensor::Shape shape;
  for (const auto& dim : *graph.value(id).type.dims) shape.push_back(dim.known() ? dim.value() : -1);
  return shape;
}

std::shared_ptr<const Model> Model::from(const std::string& bytes) {
  const hone::system::Scratch scratch;
  const auto file = scratch.folder() / "model.onnx";
  std::ofstream(file, std::ios::binary) << bytes;
  return std::make_shared<const Model>(Model{bytes, hone::importer::load_model(file.string()).graph});
}

}  // namespace fake

extern "C" int32_t getInferLibVersion() noexcept { return fake::version(); }
