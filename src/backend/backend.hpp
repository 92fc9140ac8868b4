// A system that runs models: hone, torch, torchscript, reference. Each one has a folder here.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/model.hpp"
#include "tensor/precision.hpp"
#include "tensor/tensor.hpp"

namespace hone::backend {

using tensor::parse_precision;
using tensor::Precision;
using tensor::precision_name;

struct LoadOptions {
  Precision precision = Precision::kFp32;
  /// "cpu" or "cuda".
  std::string device = "cpu";
  int threads = 1;
  /// Concrete shape of every input the executable will first be run with, by input name.
  std::map<std::string, tensor::Shape> input_shapes;
  int optimization_level = 3;
  /// Passes not to apply, by name.
  std::vector<std::string> disabled_passes;
};

/// Bytes; 0 where a backend cannot know.
struct MemoryUse {
  int64_t weights = 0;
  int64_t activations = 0;
};

/// One executable unit as `hone inspect` lists it.
struct StepInfo {
  std::string name;
  std::string kind;
  std::vector<std::string> sources;
  std::string tactic;
};

/// A loaded model, used by one thread at a time.
class Executable {
 public:
  virtual ~Executable() = default;
  /// Outputs for inputs in the model's order, complete on the host when it returns. Precisions other than
  /// fp32 are internal: inputs and outputs keep the model's own types. Bad input for wrong types or shapes.
  virtual std::vector<tensor::Tensor> run(std::span<const tensor::Tensor> inputs) = 0;
  /// run() in three parts, for timing the middle alone: inputs to where the executable computes, one
  /// execution on them, its outputs back. Inputs stay valid until the execution is done.
  virtual void upload(std::span<const tensor::Tensor> inputs) { uploaded_ = inputs; }
  virtual void execute() { outputs_ = run(uploaded_); }
  virtual std::vector<tensor::Tensor> download() { return std::move(outputs_); }
  virtual MemoryUse memory() const { return {}; }
  virtual std::vector<StepInfo> steps() const { return {}; }
  /// Sentences a reader of its numbers must know ("bf16 is emulated: this CPU has no AVX-512 BF16").
  virtual std::vector<std::string> notes() const { return {}; }

 private:
  std::span<const tensor::Tensor> uploaded_;
  std::vector<tensor::Tensor> outputs_;
};

/// Environment error when a backend that computes on the CPU is asked for another device.
void require_cpu(const LoadOptions& options, std::string_view backend);

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  /// Version of the system behind it ("1.13.0"), for the context of a run.
  virtual std::string version() const = 0;
  /// Environment error when the precision or device is not to be had; bad input when the model cannot run.
  virtual std::unique_ptr<Executable> load(const importer::Model& model, const LoadOptions& options) = 0;
};

/// Names of the built-in backends, in the order they are shown.
std::vector<std::string> backend_names();
/// Usage error for an unknown name; environment error, with how to get it, when its plugin is missing.
std::unique_ptr<Backend> make_backend(std::string_view name);

}  // namespace hone::backend
