// Reports the device's work in runs of an engine, as its executor records it.
#pragma once

#include <memory>
#include <utility>

#include "backend/backend.hpp"
#include "base/error.hpp"
#include "engine/program/executor.hpp"

namespace hone::backend {

class DeviceObserver final : public Observer {
 public:
  /// Environment error for a null watch, which means that the executor's steps cannot time themselves.
  explicit DeviceObserver(std::unique_ptr<engine::DeviceWatch> watch) : watch_(std::move(watch)) {
    if (watch_ == nullptr)
      fail_environment(
          "some steps overlap others on the GPU and cannot time themselves; record with --cupti");
  }
  Observed finish() override {
    Observed observed;
    observed.device = watch_->finish();
    return observed;
  }

 private:
  std::unique_ptr<engine::DeviceWatch> watch_;
};

/// Makes an executor wait for each of its steps during the observer's lifetime.
class StepObserver final : public Observer {
 public:
  explicit StepObserver(engine::Executor& executor) : executor_(executor) { executor_.await_steps(true); }
  ~StepObserver() override { executor_.await_steps(false); }
  Observed finish() override { return {}; }

 private:
  engine::Executor& executor_;
};

}  // namespace hone::backend
