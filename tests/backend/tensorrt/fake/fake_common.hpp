// libnvinfer.so.<major> and libnvonnxparser.so.<major> in one, for tests without a GPU: a network is the ONNX
// file, a plan holds it, and an engine runs it with hone's reference kernels on the fake CUDA's stream. It
// says what it was configured with in its engine information, refuses what FAKE_TENSORRT_REFUSES or
// FAKE_TENSORRT_LACKS (operators: when it is parsed, or at all) or FAKE_TENSORRT_FAILS (what it then logs)
// name, and is of the version FAKE_TENSORRT_VERSION; FAKE_TENSORRT_OTHER_BUILD is the timing cache that
// another build writes in the middle of its own. It calibrates by the largest magnitudes of inputs and
// outputs.
//
// This header is what its parts share: its version, its types beside hone's, and the fakes of small
// interfaces.
#pragma once

#include <memory>
#include <string>

#include "fake_stubs.hpp"
#include "import/load.hpp"
#include "tensor/tensor.hpp"

namespace fake {

using namespace nvinfer1;  // NOLINT(google-build-using-namespace): it implements it
using hone::graph::Graph;
using hone::tensor::DType;
using hone::tensor::Tensor;

/// The first bytes of a plan of the fake.
constexpr const char* kMagic = "fake plan\n";

/// The value of the environment variable, or nothing.
const char* variable(const char* name);

int version();

/// As an engine of this major has it.
DataType data_type(DType dtype);

/// The type in host memory of a value that has `model` in the model and `type` in the engine.
DType host_type(DataType type, DType model);

Dims to_dims(const hone::tensor::Shape& shape);
hone::tensor::Shape to_shape(const Dims& dims);

/// Open dimensions are -1.
hone::tensor::Shape declared_shape(const Graph& graph, hone::graph::ValueId id);

struct Model {
  std::string onnx;
  std::shared_ptr<const Graph> graph;

  static std::shared_ptr<const Model> from(const std::string& bytes);
};

class HostMemoryImpl : public VHostMemoryStub {
 public:
  explicit HostMemoryImpl(std::string bytes) : bytes_(std::move(bytes)) {}
  void* data() const noexcept override { return const_cast<char*>(bytes_.data()); }
  std::size_t size() const noexcept override { return bytes_.size(); }

 private:
  std::string bytes_;
};

/// An interface whose implementation lies beside it and dies with it.
template <class Interface, class Impl>
class Faked : public Interface {
 public:
  template <class... Args>
  explicit Faked(Args&&... args) : impl(std::forward<Args>(args)...) {
    this->mImpl = &impl;
  }
  Impl impl;
};

using FakeMemory = Faked<IHostMemory, HostMemoryImpl>;

}  // namespace fake
