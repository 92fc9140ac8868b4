// The network that the parser fills and the builder reads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fake_common.hpp"

namespace fake {

class TensorImpl : public VTensorStub {
 public:
  TensorImpl(std::string name, hone::tensor::Shape shape)
      : name_(std::move(name)), shape_(std::move(shape)) {}
  char const* getName() const noexcept override { return name_.c_str(); }
  Dims getDimensions() const noexcept override { return to_dims(shape_); }

 private:
  std::string name_;
  hone::tensor::Shape shape_;
};

/// Only the library makes and destroys tensors.
class FakeTensor : public ITensor {
 public:
  FakeTensor(std::string name, hone::tensor::Shape shape) : impl_(std::move(name), std::move(shape)) {
    mImpl = &impl_;
  }

 private:
  TensorImpl impl_;
};

class NetworkImpl : public VNetworkDefinitionStub {
 public:
  explicit NetworkImpl(uint32_t flags) : flags_(flags) {}
  int32_t getNbInputs() const noexcept override { return static_cast<int32_t>(inputs_.size()); }
  ITensor* getInput(int32_t index) const noexcept override {
    return inputs_[static_cast<size_t>(index)].get();
  }

  void take(std::shared_ptr<const Model> model) {
    model_ = std::move(model);
    for (const auto id : model_->graph->inputs)
      inputs_.push_back(
          std::make_unique<FakeTensor>(model_->graph->value(id).name, declared_shape(*model_->graph, id)));
  }
  const Model* model() const { return model_.get(); }
  uint32_t flags() const { return flags_; }

 private:
  uint32_t flags_;
  std::shared_ptr<const Model> model_;
  std::vector<std::unique_ptr<FakeTensor>> inputs_;
};
using FakeNetwork = Faked<INetworkDefinition, NetworkImpl>;

}  // namespace fake
