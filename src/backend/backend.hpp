// A system that runs models: hone, torch, torchscript, torch-graph, reference. Their folders lie next to this
// file.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/device_exchange.hpp"
#include "backend/layer_profile.hpp"
#include "backend/observer.hpp"
#include "base/progress.hpp"
#include "base/refusal.hpp"
#include "import/model.hpp"
#include "tensor/precision.hpp"
#include "tensor/tensor.hpp"
#include "tensor/tensor_view.hpp"

namespace hone::backend {

using tensor::parse_precision;
using tensor::Precision;
using tensor::precision_name;

struct LoadOptions {
  Precision precision = Precision::kFp32;
  /// The precision of nodes that stay in floating point if `precision` is kInt8.
  Precision beside_int8 = Precision::kFp32;
  /// "cpu", "cuda", which is the first GPU, or "cuda:1".
  std::string device = "cpu";
  int threads = 1;
  /// Concrete shape of every input the executable will first be run with, by input name.
  std::map<std::string, tensor::Shape> input_shapes;
  /// True if it only ever runs with these shapes, so that everything that depends on them is fixed.
  bool only_these_shapes = false;
  /// Outputs that are caches of the next run, as engine::parse_carries() has it, and how many tokens the new
  /// ones see, themselves included. A backend may keep such caches where it computes; 0: they count for
  /// nothing.
  std::vector<std::string> bind;
  int64_t context = 0;
  /// True if times are looked up and kept in the user's timing cache.
  bool timing_cache = true;
  /// Shapes, by input name, of all setups that take turns, the one at hand among them: for a backend that
  /// makes one executable for all of them. Empty where there is only `input_shapes`.
  std::vector<std::map<std::string, tensor::Shape>> profiles = {};
  /// Called now and then while the model is loaded, by a backend that can; empty: not called.
  std::function<void(const base::Progress&)> progress = {};
  /// Settings that only one backend understands: "tensorrt.level" to "3".
  std::map<std::string, std::string> settings = {};
};

/// Bytes of a device's own memory; 0 where a backend cannot know.
struct DeviceMemoryUse {
  /// The planned memory of a run: weights, constants, activations, scratch, inputs and outputs.
  int64_t planned = 0;
  /// Bytes that the backend's allocations hold, and the most they held since it was loaded.
  int64_t allocated = 0;
  int64_t peak_allocated = 0;
  /// Bytes taken since before the model was loaded, as the driver counts them.
  int64_t driver = 0;
};

/// Bytes; 0 where a backend cannot know.
struct MemoryUse {
  int64_t weights = 0;
  int64_t activations = 0;
  DeviceMemoryUse device;
  /// The executable as a file.
  int64_t engine_file = 0;
};

/// The parts of a run, each timed by itself, milliseconds; 0 where there is none or the backend does not
/// report it.
struct RunPhases {
  double h2d_ms = 0;      ///< copies of the inputs from pinned host memory to the device
  double enqueue_ms = 0;  ///< until the host had handed over the work
  double device_ms = 0;   ///< from the first to the last step, by the device's clock
  double d2h_ms = 0;      ///< copies of the outputs to pinned host memory
};

/// Runs that overlap on several streams, on inputs that each stream was given at its start.
class Pipeline {
 public:
  virtual ~Pipeline() = default;
  /// Hands one run over to the next stream; waits only while two are under way there.
  virtual void submit() = 0;
  /// Waits for all runs.
  virtual void finish() = 0;
};

/// The cost of handing a value over to an executable and of getting one back, as run() does it.
struct Handover {
  int input_copies = 0;
  int output_copies = 0;
  /// Waits of the host at the end of a run.
  int synchronisations = 0;
};

/// A tactic that was looked at for a step, the chosen one among them.
struct Rival {
  std::string tactic;
  /// Arrangement of the step's images in which it was tried; empty where it is not known.
  std::string layout = {};
  /// Microseconds, median inside the whole network when the tactic was chosen; 0: not known.
  double time_us = 0;
  bool chosen = false;
  /// Why it does not run the step; empty for one that does.
  std::string refusal = {};
};

/// One executable unit as `hone inspect` lists it.
struct StepInfo {
  std::string name;
  std::string kind;
  std::vector<std::string> sources;
  std::string tactic;
  /// "float32 1x64x56x56 blocked8"; weights that are packed are left out.
  std::vector<std::string> inputs = {};
  std::vector<std::string> outputs = {};
  /// Operations (a multiply-add is two) and bytes (inputs, weights and outputs once); 0 where not known.
  double flops = 0;
  double bytes = 0;
  /// Indices, among the steps, of the earlier ones whose outputs it reads. Where no step has any, they are
  /// not known.
  std::vector<int32_t> predecessors = {};
  std::vector<Rival> rivals = {};
};

/// Runs whose inputs and outputs stay at the same places on a GPU.
class BoundRuns {
 public:
  virtual ~BoundRuns() = default;
  /// Hands one run over to the exchange's queue.
  virtual void submit() = 0;
  /// In the model's order and types, in memory of the executable's own; the same after every run.
  virtual const std::vector<tensor::TensorView>& outputs() const = 0;
};

/// The result of Executable::bind(): runs, or why there are none.
struct Bound {
  std::unique_ptr<BoundRuns> runs;
  Refusal refusal;
};

/// A loaded model, used by one thread at a time.
class Executable {
 public:
  virtual ~Executable() = default;
  /// Outputs for inputs in the model's order, complete on the host when it returns. Precisions other than
  /// fp32 are internal: inputs and outputs keep the model's own types. Bad input for wrong types or shapes.
  virtual std::vector<tensor::Tensor> run(std::span<const tensor::Tensor> inputs) = 0;
  /// run() in three parts, so that the middle one can be timed by itself: inputs to where the executable
  /// computes, one execution on them, its outputs back. Inputs stay valid until the execution is done; a
  /// run() in between ends what was uploaded.
  virtual void upload(std::span<const tensor::Tensor> inputs) { uploaded_ = inputs; }
  virtual void execute() { outputs_ = run(uploaded_); }
  virtual std::vector<tensor::Tensor> download() { return std::move(outputs_); }
  /// True if time_phases() returns something.
  virtual bool has_phases() const { return false; }
  /// Times the parts of a run on the inputs uploaded last, in executions of their own; `cold`: with the
  /// device's caches emptied before.
  virtual RunPhases time_phases(bool /*cold*/) { return {}; }
  /// True if make_pipeline() makes one.
  virtual bool has_pipeline() const { return false; }
  /// A pipeline over this many streams, stream k with set k of the inputs (in rotation), or null;
  /// `transfers`: each run copies its inputs from pinned host memory and its outputs back. The executable
  /// outlives it.
  virtual std::unique_ptr<Pipeline> make_pipeline(int /*streams*/, bool /*transfers*/,
                                                  std::span<const std::vector<tensor::Tensor>> /*sets*/) {
    return nullptr;
  }
  /// Watches the runs that follow, for as long as it lives, one at a time in a process; null where the system
  /// reports nothing about the inside of its runs.
  virtual std::unique_ptr<Observer> observe(const ObserveOptions& /*options*/) { return nullptr; }
  /// True if profile_layers() returns something.
  virtual bool has_layers() const { return false; }
  /// Times the layers in `runs` runs on the inputs uploaded last, by the system's own profiler.
  virtual LayerProfile profile_layers(int /*runs*/) { return {}; }
  /// True if candidates were timed when it was loaded, which also took memory of the device. Loaded again, it
  /// would find the choices made.
  virtual bool was_tuned() const { return false; }
  /// True if observe() can report the GPU's work.
  virtual bool times_device() const { return false; }
  /// The bus id of the GPU that it computes on ("0000:1b:00.0"); empty where there is none or it is unknown.
  virtual std::string bus_id() const { return {}; }
  virtual MemoryUse memory() const { return {}; }
  virtual std::vector<StepInfo> steps() const { return {}; }
  /// The predicted time of a run on inputs of the last shapes, milliseconds, if there is a prediction.
  virtual std::optional<double> predicted_ms() const { return std::nullopt; }
  /// The share of the multiply-adds of convolutions and matrix products that runs on integers; absent if
  /// nothing is quantized, or nobody knows.
  virtual std::optional<double> int8_share() const { return std::nullopt; }
  /// Sentences a reader of its numbers must know ("bf16 is emulated: this CPU has no AVX-512 BF16").
  virtual std::vector<std::string> notes() const { return {}; }
  /// Runs on inputs that lie at the exchange's place, in the model's order and types, for a caller who takes
  /// the outputs from where the executable leaves them: nothing goes over the host. The runs end before the
  /// executable and the exchange do. Errors as load() has them.
  virtual Bound bind(std::span<const tensor::TensorView> /*inputs*/, DeviceExchange& /*exchange*/) {
    return {nullptr, "it computes on the host"};
  }

 private:
  std::span<const tensor::Tensor> uploaded_;
  std::vector<tensor::Tensor> outputs_;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  /// Version of the system ("1.13.0") and of the libraries that it computes with on a device, for the context
  /// of a run. Environment error where there is no such device.
  virtual std::string version(std::string_view device) const = 0;
  /// Environment error when it cannot compute on "cpu" or "cuda:1". May start the device, which a process
  /// that is forked afterwards then cannot use. Accepts only the CPU, unless a backend says otherwise.
  virtual void require_device(std::string_view device) const;
  /// True if this is a file of the system's own, which no importer reads: load() takes a model that has a
  /// file and no graph.
  virtual bool reads(const std::filesystem::path& /*file*/) const { return false; }
  /// Environment error when the precision or device is not to be had; bad input when the model cannot run.
  virtual std::unique_ptr<Executable> load(const importer::Model& model, const LoadOptions& options) = 0;
  /// For each node of the model's graph, in order, returns why this backend does not run it on inputs of the
  /// shapes in the options. That it takes each node of a model does not promise that it can build all of it.
  virtual std::vector<Refusal> refusals(const importer::Model& model, const LoadOptions& options);
  /// A copy to the device and back and one wait, or nothing on the CPU, unless a backend says otherwise.
  virtual Handover handover(std::string_view device) const;
  /// True if its executables bind (Executable::bind) on GPUs. If a model is split between backends there, the
  /// others compute on the host.
  virtual bool binds() const { return false; }
};

/// The backend of this project.
constexpr std::string_view kOwnBackend = "hone";

}  // namespace hone::backend
