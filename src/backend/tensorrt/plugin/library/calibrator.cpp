// See calibrator.hpp.
#include "backend/tensorrt/plugin/library/calibrator.hpp"

#if NV_TENSORRT_MAJOR < 11
#include <exception>
#include <map>

#include "backend/tensorrt/plugin/library/driver.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "quantize/tensorrt_cache.hpp"

namespace hone::backend::tensorrt {
namespace {

/// Converts the tensor to the type that a network of this major takes.
tensor::Tensor as_input(const tensor::Tensor& tensor) {
  const bool narrow = NV_TENSORRT_MAJOR < 10 && tensor.dtype() == tensor::DType::kInt64;
  return narrow ? tensor.cast(tensor::DType::kInt32) : tensor;
}

template <class Interface>
class DataCalibration final : public Calibration, private Interface {
 public:
  DataCalibration(const graph::Graph& graph, const quantize::DataOptions& data, const Settings& settings)
      : graph_(graph) {
    if (settings.calibration_cache.empty()) {
      data_ = std::make_unique<quantize::CalibrationData>(graph, data);
      return;
    }
    quantize::read_tensorrt_cache(settings.calibration_cache);  // reports a damaged cache
    given_cache_ = base::read_file(settings.calibration_cache);
  }

  nvinfer1::IInt8Calibrator* calibrator() override { return this; }
  const std::string& written_cache() const override { return written_cache_; }
  int64_t samples() const override { return samples_; }
  void rethrow() const override {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  /// Networks whose batch is a dimension ignore this.
  int32_t getBatchSize() const noexcept override { return 1; }

  bool getBatch(void* bindings[], const char* names[], int32_t count) noexcept override {
    try {
      if (data_ == nullptr) return false;
      const auto samples = data_->next();
      if (!samples) return false;
      samples_ += samples->count;
      for (int32_t i = 0; i < count; ++i) bindings[i] = bring(names[i], samples->inputs);
      return true;
    } catch (...) {
      failure_ = std::current_exception();
      return false;
    }
  }

  void* bring(const std::string& name, const std::vector<tensor::Tensor>& inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (graph_.value(graph_.inputs[i]).name != name) continue;
      const tensor::Tensor input = as_input(inputs[i]);
      DeviceMemory& memory = memory_[name];
      if (memory.address() == 0 || memory.size() < input.byte_size())
        memory = DeviceMemory(input.byte_size());
      if (input.byte_size() > 0)
        check(driver().cuMemcpyHtoDAsync(memory.address(), input.bytes(), input.byte_size(), stream_.get()),
              "a copy to the GPU");
      stream_.synchronize();
      return memory.get();
    }
    fail_bad_input("TensorRT calibrates an input '{}', which the model does not have", name);
  }

  const void* readCalibrationCache(std::size_t& length) noexcept override {
    length = given_cache_.size();
    return given_cache_.empty() ? nullptr : given_cache_.data();
  }

  void writeCalibrationCache(const void* data, std::size_t length) noexcept override {
    try {
      written_cache_.assign(static_cast<const char*>(data), length);
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  const graph::Graph& graph_;
  /// Null if there is a cache.
  std::unique_ptr<quantize::CalibrationData> data_;
  std::string given_cache_;
  std::string written_cache_;
  int64_t samples_ = 0;
  std::map<std::string, DeviceMemory> memory_;
  Stream stream_;
  std::exception_ptr failure_;
};

}  // namespace

std::unique_ptr<Calibration> make_calibration(const graph::Graph& graph, const quantize::DataOptions& data,
                                              const Settings& settings) {
  if (settings.calibrator == Calibrator::kMinmax)
    return std::make_unique<DataCalibration<nvinfer1::IInt8MinMaxCalibrator>>(graph, data, settings);
  return std::make_unique<DataCalibration<nvinfer1::IInt8EntropyCalibrator2>>(graph, data, settings);
}

}  // namespace hone::backend::tensorrt
#endif
