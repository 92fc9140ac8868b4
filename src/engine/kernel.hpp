// The interface between the engine and a device: steps, tactics, kernels.
//
// The engine walks a graph with concrete shapes and asks the device for an ordered list of tactics for each
// node. A tactic either refuses with a reason or makes an offer, which consists of a kernel and the
// arrangement that its operands must have. The engine converts operands with other arrangements, plans memory
// and calls kernels.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/refusal.hpp"
#include "engine/numeric_policy.hpp"
#include "engine/program/executor.hpp"
#include "engine/tensor_desc.hpp"
#include "engine/weight_store.hpp"
#include "graph/graph.hpp"
#include "tensor/buffer.hpp"
#include "tensor/place.hpp"
#include "tensor/queue.hpp"

namespace hone::engine {

/// Memory that a kernel changes in each execution; there is one for each kernel and context.
class KernelState {
 public:
  virtual ~KernelState() = default;
};

/// Properties of the previous and the next kernel in its queue on which a kernel may rely.
struct Neighbours {
  /// The next kernel waits for this one by itself, so this one may allow it to start early.
  bool next_waits = false;
  /// The previous kernel leaves room on the device for one block of each kernel that starts early.
  bool previous_leaves_room = false;
};

/// One execution of a kernel: everything that may differ between executions.
struct Run {
  /// Null pointers represent absent operands and constants that the kernel has packed. If the device has its
  /// own memory, all pointers refer to it.
  std::span<const void* const> inputs;
  std::span<void* const> outputs;
  /// Offer::scratch_bytes of uninitialized memory.
  void* scratch = nullptr;
  /// Offer::counter_bytes, which are zeroed when the context is made and changed only by this kernel
  /// afterwards.
  void* counters = nullptr;
  /// The result of Kernel::make_state(); null if the caller keeps none, which costs time.
  KernelState* state = nullptr;
  /// Null on the host, where the work is finished when run() returns; on other devices, run() only submits
  /// it.
  const tensor::Queue* queue = nullptr;
  Neighbours neighbours;
};

/// Runs one step. It is bound to shapes, layouts and packed weights when it is made, and never changes
/// afterwards: several threads may run it at the same time, each with its own state.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual void run(const Run& run) const = 0;
  /// Returns null for a kernel without state.
  virtual std::unique_ptr<KernelState> make_state() const { return nullptr; }
  /// True if operands must be in host memory on every device, as for the reference implementation.
  virtual bool runs_on_host() const { return false; }
};

/// The request to a tactic: one node, with its operands in the arrangements of their producers.
struct StepRequest {
  const graph::Graph& graph;
  const graph::Node& node;
  /// Absent inputs have an undefined dtype; constants are plain.
  std::vector<TensorDesc> inputs;
  /// Shapes and element types as in the graph, in plain layout.
  std::vector<TensorDesc> outputs;
  /// The types in which the step must store and compute.
  NumericPolicy policy;
  /// The preferred layout for images between steps.
  Layout layout = Layout::kPlain;
  /// Also requests variants that a library does not recommend.
  bool exhaustive = false;

  /// Element type for floating-point values between steps.
  DType storage() const { return policy.storage; }
  Precision precision() const { return precision_of(policy); }
  /// Weights are rounded to bfloat16, but arithmetic is in float32.
  bool emulates_bf16() const { return policy.is_emulated(); }
};

/// An output that uses the memory of an input if the engine can arrange that.
struct SharedOperand {
  size_t output = 0;
  size_t input = 0;
};

struct Offer {
  /// Why the tactic cannot run this step.
  Refusal refusal;
  /// The arrangement of each operand that the kernel needs or produces. A packed or ignored input has an
  /// undefined dtype.
  std::vector<TensorDesc> inputs;
  std::vector<TensorDesc> outputs;
  /// Outputs that start as copies of inputs (accumulations); the engine shares the buffers if it can.
  std::vector<SharedOperand> accumulations;
  /// Output 0 may share the buffer of this input, because the kernel reads every element before it writes it.
  int in_place_input = -1;
  /// The output consists of the data of the inputs one after the other. The engine lets producers write
  /// directly into it if it can; the kernel copies only inputs that are at other addresses.
  bool concatenates = false;
  /// The alignment in bytes that readers and writers of a concatenation need to use an input inside it.
  int64_t part_alignment = 1;
  int64_t scratch_bytes = 0;
  /// Run::counters.
  int64_t counter_bytes = 0;
  std::shared_ptr<const Kernel> kernel;
  /// The packed weights that the kernel uses.
  std::vector<WeightKey> packed;

  /// Output 0 starts as a copy of this input; a negative number means none.
  void accumulate(int input) {
    if (input >= 0) accumulations.push_back({0, static_cast<size_t>(input)});
  }

  static Offer refuse(Refusal refusal) {
    Offer offer;
    offer.refusal = std::move(refusal);
    return offer;
  }
};

/// Work in the background on behalf of its holders. When the last holder releases it, the part that has not
/// begun is cancelled.
using Preparation = std::shared_ptr<const void>;

/// A condition on steps: returns a sentence why a step does not meet it, or nothing.
using Requirement = Refusal (*)(const StepRequest& request);

/// A row of a device's table of implementations: one way to run steps. Callers use the member functions,
/// which check the requirements before they call the functions of the row.
struct Tactic {
  std::string name;
  /// The operators that it takes; "Region:conv_sum" means regions of this kind.
  std::vector<std::string> operators;
  /// Checked in order before any of the functions is called; requirements that several tactics share are in
  /// requirements.hpp.
  std::vector<Requirement> requirements;
  /// True if its first kernel waits for the previous one by itself, and so may start while that is still
  /// running if the previous row is also true. These tactics are only useful together.
  bool starts_early = false;
  /// Makes an offer or a refusal. If the tactic has variants, this is used for steps without any.
  std::function<Offer(const StepRequest& request, WeightStore& weights)> make;
  /// Empty functions mean that the tactic has no variants, ...
  std::function<std::vector<std::string>(const StepRequest& request)> list_variants;
  std::function<Offer(const StepRequest& request, WeightStore& weights, std::string_view variant)>
      make_variant;
  /// ... and that it needs no preparation.
  std::function<Preparation(const StepRequest& request, const std::vector<std::string>& variants)> prepare;

  /// Weights are taken from the store, or packed from the graph's constants and added to it.
  Offer offer(const StepRequest& request, WeightStore& weights) const;
  /// Names of the ways in which this tactic can run the step (plans of a library, tile sizes), best guess
  /// first; empty if there is only one way, or none. "cudnn:e3k1=2" is variant "e3k1=2" of tactic "cudnn".
  std::vector<std::string> variants(const StepRequest& request) const;
  /// Announces that these variants will be requested, so that the tactic can prepare them in the background.
  Preparation expect(const StepRequest& request, const std::vector<std::string>& variants) const;
  /// Returns the offer of one variant; an unknown variant is refused.
  Offer offer_variant(const StepRequest& request, WeightStore& weights, std::string_view variant) const;
};

/// Tactics in order of preference.
using TacticList = std::vector<Tactic>;

/// The rows for the node's operator, or for the kind of a region, in the order of the list.
std::vector<const Tactic*> tactics_for(const TacticList& list, const graph::Node& node);

/// Amounts of a device's own memory, in bytes.
struct DeviceMemory {
  int64_t total = 0;
  int64_t free = 0;
  /// Bytes that this process has allocated for programs and weights, and the largest such amount so far.
  int64_t allocated = 0;
  int64_t peak_allocated = 0;
};

/// The time that other processes used on the processors of a device, and the total time of all its
/// processors, both since a fixed moment.
struct OthersUse {
  double used_s = 0;
  double capacity_s = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  /// A name for people: "cpu", "cuda:1".
  virtual std::string_view name() const = 0;
  /// Identifies everything on which packed weights and choices of tactics depend: processor, instruction set,
  /// library version. It is the same for two GPUs of one model.
  virtual std::string fingerprint() const = 0;
  /// Identifies everything on which tactic times depend: the fingerprint, and properties that may change
  /// without making an engine unusable.
  virtual std::string timing_fingerprint() const { return fingerprint(); }
  /// Layouts of images that are worth trying, best guess first.
  virtual std::vector<Layout> image_layouts(Precision precision) const = 0;
  /// Names of optional passes (transform::Pass) whose results this device runs faster. `images` is the batch
  /// of the engine; 0 if it is unknown or there are several.
  virtual std::vector<std::string> passes(Precision /*precision*/, int64_t /*images*/) const { return {}; }
  /// Tactics for an operator in order of preference, without the reference implementation, which the engine
  /// appends to every list.
  virtual std::vector<const Tactic*> tactics(const graph::Node& node) const = 0;
  /// Returns a kernel that copies input 0 in the arrangement `from` to output 0 in the arrangement `to`. The
  /// shapes must be equal; the element types may be different floating-point types.
  virtual std::shared_ptr<const Kernel> make_reorder(const TensorDesc& from, const TensorDesc& to) const = 0;
  /// Rearranges a constant in host memory immediately.
  virtual void arrange_constant(const TensorDesc& from, const TensorDesc& to, const void* input,
                                void* output) const {
    make_reorder(from, to)->run({.inputs = {&input, 1}, .outputs = {&output, 1}});
  }
  /// Returns the executor for programs of this device.
  virtual std::unique_ptr<Executor> make_executor(const Program& program) const {
    return make_host_executor(program);
  }
  /// True if steps can overlap, so that a step's own time is not its cost in the network.
  virtual bool overlaps_steps() const { return false; }
  /// Default limit on the seconds of a tactic search.
  virtual double search_seconds() const { return 12; }
  /// Zeros if the use is unknown.
  virtual OthersUse others_use() const { return {}; }
  /// True if large batches may run faster in groups of images, one group after the other.
  virtual bool splits_batches() const { return true; }
  /// True if kernels store and multiply in this precision.
  virtual bool computes_in(Precision precision) const = 0;
  /// The policy of steps in this precision; for bf16 on a CPU without it, the emulated one. Environment error
  /// for any other precision that the device lacks.
  NumericPolicy policy_for(Precision precision) const;
  /// Policies that round less but may be faster on this device. A tactic search for an engine of this
  /// precision also considers them for each step.
  virtual std::vector<NumericPolicy> finer_policies(Precision) const { return {}; }
  /// True if policy_for() can return it.
  bool runs(const NumericPolicy& policy) const;
  /// Returns the kernel followed by rounding of its float32 outputs to values of bfloat16.
  virtual std::shared_ptr<const Kernel> make_rounding(std::shared_ptr<const Kernel> kernel,
                                                      std::vector<TensorDesc> outputs) const = 0;
  /// Sets the number of threads for kernels that the calling thread runs.
  virtual void set_threads(int threads) const = 0;
  /// Zeros for a device that computes in host memory.
  virtual DeviceMemory memory() const { return {}; }
  /// The memory that steps read and write.
  virtual tensor::Place place() const { return {}; }
  /// Allocates uninitialized memory there. Throws OutOfMemory if there is no room.
  virtual tensor::Buffer allocate(int64_t bytes) const;
  /// Makes a queue there; null on the host, which does the work itself.
  virtual std::unique_ptr<tensor::Queue> make_queue() const { return nullptr; }
  /// Wraps an existing stream, given by its handle (a cudaStream_t), which must outlive the queue. Usage
  /// error if the device has no streams.
  virtual std::unique_ptr<tensor::Queue> wrap_queue(void* stream) const;
  /// Copies all bytes of `from`, within this device or between it and the host; submitted to the queue, which
  /// is null on the host.
  virtual void copy(const tensor::Buffer& from, const tensor::Buffer& to, const tensor::Queue* queue) const;
  /// Required alignment of the addresses of inputs and outputs, in bytes.
  virtual int64_t io_alignment() const { return 1; }
  /// Returns a kernel that copies input 0, whose elements are `strides` elements apart, to output 0 in plain
  /// layout; null if there is none.
  virtual std::shared_ptr<const Kernel> make_strided_copy(DType dtype, const Shape& shape,
                                                          const Shape& strides) const;
  /// The bus address by which other tools know the device ("0000:1b:00.0"); empty for the host.
  virtual std::string bus_id() const { return {}; }
  /// Evicts the data of programs from the device's own caches that keep them between executions.
  virtual void evict_caches() const {}
  /// Sentences that a reader of times of such steps must know ("bf16 is emulated ...").
  virtual std::vector<std::string> notes(const NumericPolicy& policy) const = 0;

 private:
  bool emulates(Precision precision) const;
};

}  // namespace hone::engine
