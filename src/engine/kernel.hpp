// The contract between the engine and a device: steps, tactics, kernels.
//
// The engine walks a graph with concrete shapes and asks the device, for each node, for an ordered list
// of tactics. A tactic either refuses with a reason or makes an offer: a kernel and the arrangement its
// operands must have. The engine converts operands that lie otherwise, plans memory and calls kernels.
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

/// Memory that a kernel changes from one execution to the next: one for each kernel and context.
class KernelState {
 public:
  virtual ~KernelState() = default;
};

/// Properties of the kernels before and after it in its queue that a kernel may rely on.
struct Neighbours {
  /// The next kernel waits for this one by itself, so that this one may let it start early.
  bool next_waits = false;
  /// The kernel before leaves room on the device for one block each of a kernel that starts early.
  bool previous_leaves_room = false;
};

/// One execution of a kernel: everything that differs from one execution to the next.
struct Run {
  /// Null pointers stand for absent operands and for constants that the kernel has packed. On a device with
  /// memory of its own, all pointers are the device's.
  std::span<const void* const> inputs;
  std::span<void* const> outputs;
  /// Offer::scratch_bytes of any content.
  void* scratch = nullptr;
  /// Offer::counter_bytes, zeroed when the context was made and afterwards changed by this kernel only.
  void* counters = nullptr;
  /// The result of Kernel::make_state(); null where the caller keeps none, which costs time.
  KernelState* state = nullptr;
  /// Null on the host, where the work is done when run() returns; elsewhere it is only handed over.
  const tensor::Queue* queue = nullptr;
  Neighbours neighbours;
};

/// Something that runs one step. Bound to shapes, layouts and packed weights when it was made, and never
/// changed after: several threads may run it at the same time, each with a state of its own.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual void run(const Run& run) const = 0;
  /// Null for a kernel without any.
  virtual std::unique_ptr<KernelState> make_state() const { return nullptr; }
  /// True if operands must lie in host memory, whatever the device: the reference implementation.
  virtual bool runs_on_host() const { return false; }
};

/// The request to a tactic: one node, its operands as their producers leave them.
struct StepRequest {
  const graph::Graph& graph;
  const graph::Node& node;
  /// Undefined dtype for absent inputs; constants are plain.
  std::vector<TensorDesc> inputs;
  /// Shapes and element types of the graph's own types, plain.
  std::vector<TensorDesc> outputs;
  /// The types in which the step has to store and compute.
  NumericPolicy policy;
  /// Layout wanted for images between steps.
  Layout layout = Layout::kPlain;
  /// Variants that a library does not recommend are wanted as well.
  bool exhaustive = false;

  /// Element type wanted for floating-point values between steps.
  DType storage() const { return policy.storage; }
  Precision precision() const { return precision_of(policy); }
  /// Weights are rounded to bfloat16 although arithmetic is in float32.
  bool emulates_bf16() const { return policy.is_emulated(); }
};

/// An output that is in the memory of an input, where the engine can have it so.
struct SharedOperand {
  size_t output = 0;
  size_t input = 0;
};

struct Offer {
  /// Why the tactic cannot run this step.
  Refusal refusal;
  /// Arrangement the kernel needs or makes, one per operand. A packed or ignored input has undefined dtype.
  std::vector<TensorDesc> inputs;
  std::vector<TensorDesc> outputs;
  /// Outputs that start as copies of inputs (accumulations); the engine shares the buffers where it can.
  std::vector<SharedOperand> accumulations;
  /// Output 0 may share the buffer of this input: the kernel reads every element before it writes it.
  int in_place_input = -1;
  /// The output's bytes are those of the inputs one after the other. The engine lets producers write there
  /// where it can; the kernel copies an input only where its pointer is not in place already.
  bool concatenates = false;
  /// The alignment, in bytes, that readers and writers of a concatenation need to use an input in place.
  int64_t part_alignment = 1;
  int64_t scratch_bytes = 0;
  /// Run::counters.
  int64_t counter_bytes = 0;
  std::shared_ptr<const Kernel> kernel;
  /// The packed weights the kernel holds.
  std::vector<WeightKey> packed;

  /// Output 0 starts as a copy of that input; of none where it is negative.
  void accumulate(int input) {
    if (input >= 0) accumulations.push_back({0, static_cast<size_t>(input)});
  }

  static Offer refuse(Refusal refusal) {
    Offer offer;
    offer.refusal = std::move(refusal);
    return offer;
  }
};

/// Work in the background for whoever holds it; what of it has not begun is given up with the last holder.
using Preparation = std::shared_ptr<const void>;

/// A condition on steps: why a step does not meet it, in one sentence, or nothing.
using Requirement = Refusal (*)(const StepRequest& request);

/// A row of a device's table of implementations: one way to run steps. Callers ask the member functions,
/// which see to the requirements before they call the row's own functions.
struct Tactic {
  std::string name;
  /// The operators that it takes; "Region:conv_sum" for regions of that kind.
  std::vector<std::string> operators;
  /// Asked in turn before any of the functions; those that several tactics share are in requirements.hpp.
  std::vector<Requirement> requirements;
  /// True if its first kernel waits for the previous one by itself, so that it may start while that one still
  /// runs, provided that the previous row says so, too: such tactics only pay together.
  bool starts_early = false;
  /// An offer, or why there is none. A tactic with variants is asked for it where a step has none of them.
  std::function<Offer(const StepRequest& request, WeightStore& weights)> make;
  /// Empty functions stand for a tactic without variants, ...
  std::function<std::vector<std::string>(const StepRequest& request)> list_variants;
  std::function<Offer(const StepRequest& request, WeightStore& weights, std::string_view variant)>
      make_variant;
  /// ... and for one that has nothing to get ready.
  std::function<Preparation(const StepRequest& request, const std::vector<std::string>& variants)> prepare;

  /// Weights are taken from the store, or packed into it from the graph's constants.
  Offer offer(const StepRequest& request, WeightStore& weights) const;
  /// Names of the ways in which this tactic can run the step (plans of a library, tile sizes), best guess
  /// first; empty when there is one way only, or none. "cudnn:e3k1=2" is variant "e3k1=2" of tactic "cudnn".
  std::vector<std::string> variants(const StepRequest& request) const;
  /// Says that all variants are about to be asked for, so that the tactic can get them ready meanwhile.
  Preparation expect(const StepRequest& request, const std::vector<std::string>& variants) const;
  /// The offer of one variant; an unknown one is refused.
  Offer offer_variant(const StepRequest& request, WeightStore& weights, std::string_view variant) const;
};

/// Tactics in order of preference.
using TacticList = std::vector<Tactic>;

/// The rows for the node's operator, or for the kind of a region, in their order.
std::vector<const Tactic*> tactics_for(const TacticList& list, const graph::Node& node);

/// Bytes of a device's own memory.
struct DeviceMemory {
  int64_t total = 0;
  int64_t free = 0;
  /// Bytes that this process holds for programs and weights, and the most that it ever held.
  int64_t allocated = 0;
  int64_t peak_allocated = 0;
};

/// Time of other processes on the processors of a device, and all the time of all its processors together,
/// since some moment.
struct OthersUse {
  double used_s = 0;
  double capacity_s = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  /// For people: "cpu", "cuda:1".
  virtual std::string_view name() const = 0;
  /// Identifies everything that packed weights and choices of tactics depend on: processor, instruction set,
  /// library version. Two GPUs of one model have the same.
  virtual std::string fingerprint() const = 0;
  /// Identifies everything that tactic times depend on: the fingerprint, and properties that may change
  /// without making an engine unfit.
  virtual std::string timing_fingerprint() const { return fingerprint(); }
  /// Layouts for images worth trying, best guess first.
  virtual std::vector<Layout> image_layouts(Precision precision) const = 0;
  /// Names of passes on request (transform::Pass) that make graphs which this device runs faster. `images`:
  /// the batch that the engine is for, 0 where that is not known or there are several.
  virtual std::vector<std::string> passes(Precision /*precision*/, int64_t /*images*/) const { return {}; }
  /// Tactics for an operator in order of preference. The reference implementation is not among them:
  /// the engine closes every list with it.
  virtual std::vector<const Tactic*> tactics(const graph::Node& node) const = 0;
  /// A kernel that copies input 0, arranged as `from`, to output 0, arranged as `to` (equal shapes; the
  /// element types may differ among the floating-point types).
  virtual std::shared_ptr<const Kernel> make_reorder(const TensorDesc& from, const TensorDesc& to) const = 0;
  /// Rearranges a constant at once, on host memory.
  virtual void arrange_constant(const TensorDesc& from, const TensorDesc& to, const void* input,
                                void* output) const {
    make_reorder(from, to)->run({.inputs = {&input, 1}, .outputs = {&output, 1}});
  }
  /// Returns the executor for programs of this device.
  virtual std::unique_ptr<Executor> make_executor(const Program& program) const {
    return make_host_executor(program);
  }
  /// True if steps overlap while they run, so that a step's own time is not what it costs the network.
  virtual bool overlaps_steps() const { return false; }
  /// Seconds that a search for tactics may take unless its user says otherwise.
  virtual double search_seconds() const { return 12; }
  /// Zeros where that is not known.
  virtual OthersUse others_use() const { return {}; }
  /// True if large batches may run faster in groups, image groups after each other.
  virtual bool splits_batches() const { return true; }
  /// True if kernels store and multiply in this precision.
  virtual bool computes_in(Precision precision) const = 0;
  /// The policy of steps in this precision: its own, or emulated bf16 on a CPU without bf16. Environment
  /// error for any other one that the device lacks.
  NumericPolicy policy_for(Precision precision) const;
  /// Policies that round less and may be faster on this device. An engine of the precision whose tactics are
  /// searched chooses among them, too, step by step.
  virtual std::vector<NumericPolicy> finer_policies(Precision) const { return {}; }
  /// True if policy_for() returns it.
  bool runs(const NumericPolicy& policy) const;
  /// The kernel followed by rounding its float32 outputs to bfloat16's values.
  virtual std::shared_ptr<const Kernel> make_rounding(std::shared_ptr<const Kernel> kernel,
                                                      std::vector<TensorDesc> outputs) const = 0;
  /// Threads that kernels use when the calling thread runs them.
  virtual void set_threads(int threads) const = 0;
  /// Zeros on a device that computes in the host's memory.
  virtual DeviceMemory memory() const { return {}; }
  /// The memory that steps read and write.
  virtual tensor::Place place() const { return {}; }
  /// Memory there, of any content. OutOfMemory where there is no room.
  virtual tensor::Buffer allocate(int64_t bytes) const;
  /// A queue of its own there; null on the host, which does the work itself.
  virtual std::unique_ptr<tensor::Queue> make_queue() const { return nullptr; }
  /// A stream of somebody else's, by its handle (a cudaStream_t), which outlives the queue. Usage error where
  /// there are none.
  virtual std::unique_ptr<tensor::Queue> wrap_queue(void* stream) const;
  /// Copies all bytes of `from`, between here and here or the host; handed over to the queue, which is null
  /// on the host.
  virtual void copy(const tensor::Buffer& from, const tensor::Buffer& to, const tensor::Queue* queue) const;
  /// Bytes of which the addresses of inputs and outputs must be multiples.
  virtual int64_t io_alignment() const { return 1; }
  /// A kernel that copies input 0, whose elements lie `strides` elements apart, to output 0, plain; null
  /// where there is none for them.
  virtual std::shared_ptr<const Kernel> make_strided_copy(DType dtype, const Shape& shape,
                                                          const Shape& strides) const;
  /// Where the device is plugged in, by which other tools know it ("0000:1b:00.0"); empty for the host
  /// itself.
  virtual std::string bus_id() const { return {}; }
  /// Removes what programs used from the caches that outlive an execution, where they are the device's own.
  virtual void evict_caches() const {}
  /// Sentences a reader of times of such steps must know ("bf16 is emulated ...").
  virtual std::vector<std::string> notes(const NumericPolicy& policy) const = 0;

 private:
  bool emulates(Precision precision) const;
};

}  // namespace hone::engine
