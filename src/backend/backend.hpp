// A system that runs models: hone, torch, torchscript,
// torch-graph or reference. Each has a folder next to this file.
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
  /// "cpu", "cuda" (the first GPU) or "cuda:1".
  std::string device = "cpu";
  int threads = 1;
  /// The shape of every input in the first run, by input name.
  std::map<std::string, tensor::Shape> input_shapes;
  /// True if it only ever runs with these shapes, so that everything that depends on them can be fixed.
  bool only_these_shapes = false;
  /// Outputs that are caches for the next run, in the form of engine::parse_carries(), and the number of
  /// tokens that the new caches hold, including the new token. A backend may keep such caches on its device;
  /// it ignores them if `context` is 0.
  std::vector<std::string> bind;
  int64_t context = 0;
  /// True if times are read from and written to the user's timing cache.
  bool timing_cache = true;
  /// Shapes, by input name, of all setups that take turns, including the current one, for a backend that
  /// makes one executable for all of them. Empty if there are only `input_shapes`.
  std::vector<std::map<std::string, tensor::Shape>> profiles = {};
  /// Called from time to time while the model is loaded, by backends that support it; empty for no calls.
  std::function<void(const base::Progress&)> progress = {};
  /// Settings that only one backend understands, such as "tensorrt.level" with the value "3".
  std::map<std::string, std::string> settings = {};
};

/// Bytes of a device's own memory; 0 if the backend does not know.
struct DeviceMemoryUse {
  /// The planned memory of a run: weights, constants, activations, scratch, inputs and outputs.
  int64_t planned = 0;
  /// Bytes that the backend has allocated, and the most that it had allocated since it was loaded.
  int64_t allocated = 0;
  int64_t peak_allocated = 0;
  /// Bytes taken since before the model was loaded, as the driver reports them.
  int64_t driver = 0;
};

/// Bytes; 0 if the backend does not know.
struct MemoryUse {
  int64_t weights = 0;
  int64_t activations = 0;
  DeviceMemoryUse device;
  /// The size of the executable as a file.
  int64_t engine_file = 0;
};

/// The parts of a run, each timed separately, in milliseconds; 0
/// if there is no such part or the backend does not report it.
struct RunPhases {
  double h2d_ms = 0;      ///< copies of the inputs from pinned host memory to the device
  double enqueue_ms = 0;  ///< until the host has submitted the work
  double device_ms = 0;   ///< from the first to the last step, by the device's clock
  double d2h_ms = 0;      ///< copies of the outputs to pinned host memory
};

/// Overlapping runs on several streams. Each stream keeps the inputs that it was given at the start.
class Pipeline {
 public:
  virtual ~Pipeline() = default;
  /// Submits one run to the next stream; waits only if that stream has two runs in progress.
  virtual void submit() = 0;
  /// Waits for all runs.
  virtual void finish() = 0;
};

/// The cost of passing a value to an executable and of getting one back, as in run().
struct Handover {
  int input_copies = 0;
  int output_copies = 0;
  /// The number of times that the host waits at the end of a run.
  int synchronisations = 0;
};

/// A tactic that was considered for a step; the chosen one is also listed.
struct Rival {
  std::string tactic;
  /// The layout of the step's images in this trial; empty if it is not known.
  std::string layout = {};
  /// Median microseconds inside the whole network when the tactic was chosen; 0 if not known.
  double time_us = 0;
  bool chosen = false;
  /// The reason why it does not run the step; empty if it does.
  std::string refusal = {};
};

/// One executable unit as `hone inspect` lists it.
struct StepInfo {
  std::string name;
  std::string kind;
  std::vector<std::string> sources;
  std::string tactic;
  /// "float32 1x64x56x56 blocked8"; packed weights are left out.
  std::vector<std::string> inputs = {};
  std::vector<std::string> outputs = {};
  /// Operations (a multiply-add is two) and bytes (inputs, weights and outputs once); 0 if not known.
  double flops = 0;
  double bytes = 0;
  /// Indices of the earlier steps whose outputs it reads. If
  /// they are empty for all steps, they are not known.
  std::vector<int32_t> predecessors = {};
  std::vector<Rival> rivals = {};
};

/// Runs whose inputs and outputs stay at fixed addresses on a GPU.
class BoundRuns {
 public:
  virtual ~BoundRuns() = default;
  /// Submits one run to the exchange's queue.
  virtual void submit() = 0;
  /// In the model's order and types, in the executable's own memory; the same after every run.
  virtual const std::vector<tensor::TensorView>& outputs() const = 0;
};

/// The result of Executable::bind(): runs, or the reason why there are none.
struct Bound {
  std::unique_ptr<BoundRuns> runs;
  Refusal refusal;
};

/// A loaded model, used by one thread at a time.
class Executable {
 public:
  virtual ~Executable() = default;
  /// Returns outputs for inputs in the model's order, complete on the host. Precisions other than fp32 are
  /// internal: inputs and outputs keep the model's own types. Bad input for wrong types or shapes.
  virtual std::vector<tensor::Tensor> run(std::span<const tensor::Tensor> inputs) = 0;
  /// run() in three parts, so that the middle one can be timed separately: copies the inputs to the
  /// executable's device, executes once on them, and copies the outputs back. The inputs must stay valid
  /// until the execution has ended. A call of run() in between discards the uploaded inputs.
  virtual void upload(std::span<const tensor::Tensor> inputs) { uploaded_ = inputs; }
  virtual void execute() { outputs_ = run(uploaded_); }
  virtual std::vector<tensor::Tensor> download() { return std::move(outputs_); }
  /// True if time_phases() returns something.
  virtual bool has_phases() const { return false; }
  /// Times the parts of a run on the inputs uploaded last, in separate executions. With `cold`, the device's
  /// caches are emptied first.
  virtual RunPhases time_phases(bool /*cold*/) { return {}; }
  /// True if make_pipeline() returns one.
  virtual bool has_pipeline() const { return false; }
  /// A pipeline over this number of streams, or null. The streams use the sets of inputs in turn; stream k
  /// has set k modulo their number. With `transfers`, each run copies its inputs from pinned host memory and
  /// its outputs back. The executable must outlive it.
  virtual std::unique_ptr<Pipeline> make_pipeline(int /*streams*/, bool /*transfers*/,
                                                  std::span<const std::vector<tensor::Tensor>> /*sets*/) {
    return nullptr;
  }
  /// Watches the following runs for as long as the observer lives; a process can have one at a time. Null if
  /// the system reports nothing about the inside of its runs.
  virtual std::unique_ptr<Observer> observe(const ObserveOptions& /*options*/) { return nullptr; }
  /// True if profile_layers() returns something.
  virtual bool has_layers() const { return false; }
  /// Times the layers in `runs` runs on the inputs uploaded last, with the system's own profiler.
  virtual LayerProfile profile_layers(int /*runs*/) { return {}; }
  /// True if candidates were timed during loading, which also took memory of the device. Loading again would
  /// find these choices.
  virtual bool was_tuned() const { return false; }
  /// True if observe() can report the GPU's work.
  virtual bool times_device() const { return false; }
  /// The bus id of its GPU ("0000:1b:00.0"); empty if there is none or it is unknown.
  virtual std::string bus_id() const { return {}; }
  virtual MemoryUse memory() const { return {}; }
  virtual std::vector<StepInfo> steps() const { return {}; }
  /// The predicted time of a run on inputs of the last shapes, in milliseconds, if there is a prediction.
  virtual std::optional<double> predicted_ms() const { return std::nullopt; }
  /// The share of the multiply-adds of convolutions and matrix products that runs on integers; nullopt if
  /// nothing is quantized or the share is not known.
  virtual std::optional<double> int8_share() const { return std::nullopt; }
  /// Sentences that a reader of its numbers must know ("bf16 is emulated: this CPU has no AVX-512 BF16").
  virtual std::vector<std::string> notes() const { return {}; }
  /// Runs on inputs in the exchange's memory, in the model's order and types. The caller reads the outputs
  /// where the executable writes them, so that nothing passes through the host. The runs must be destroyed
  /// before the executable and the exchange. Errors are those of load().
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
  /// of a run. Environment error if there is no such device.
  virtual std::string version(std::string_view device) const = 0;
  /// Environment error if it cannot compute on the device ("cpu", "cuda:1"). May start the device, which a
  /// process that is forked afterwards then cannot use. By default only the CPU is accepted.
  virtual void require_device(std::string_view device) const;
  /// True if this is a file in the system's own format, which no importer reads. load() then takes a model
  /// with a file and without a graph.
  virtual bool reads(const std::filesystem::path& /*file*/) const { return false; }
  /// Environment error if the precision or device is not available; bad input if the model cannot run.
  virtual std::unique_ptr<Executable> load(const importer::Model& model, const LoadOptions& options) = 0;
  /// Returns for each node of the model's graph, in order, the reason why
  /// this backend cannot run it on inputs of the shapes in the options. A
  /// backend that accepts every node may still fail to build the whole model.
  virtual std::vector<Refusal> refusals(const importer::Model& model, const LoadOptions& options);
  /// By default one copy to the device, one back and one wait; nothing on the CPU.
  virtual Handover handover(std::string_view device) const;
  /// True if its executables bind (Executable::bind) on GPUs. If a model is partitioned there, blocks of
  /// other backends compute on the host.
  virtual bool binds() const { return false; }
};

/// The backend of this project.
constexpr std::string_view kOwnBackend = "hone";

}  // namespace hone::backend
