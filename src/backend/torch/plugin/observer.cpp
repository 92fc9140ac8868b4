// See observer.hpp. PyTorch calls back at the start and end of each operator (at::RecordFunction) and from
// its allocators (c10::MemoryReportingInfoBase). Its own profiler uses the same two interfaces.
#include "backend/torch/plugin/observer.hpp"

#include <ATen/record_function.h>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "backend/torch/plugin/compat.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"

namespace hone::backend::aten {
namespace {

int64_t thread_id() {
  thread_local const int64_t kId = gettid();
  return kId;
}

/// A JSON list with the text that `write` appends for each of the values.
template <class Values, class Write>
void append_list(std::string& out, const Values& values, Write write) {
  out += '[';
  bool first = true;
  for (const auto& value : values) {
    if (!first) out += ',';
    first = false;
    write(value);
  }
  out += ']';
}

void append_sizes(std::string& out, const at::Tensor& tensor) {
  if (!tensor.defined()) {
    out += "[]";
    return;
  }
  append_list(out, tensor.sizes(), [&](int64_t size) { out += std::to_string(size); });
}

std::string shapes_of(c10::ArrayRef<const c10::IValue> inputs) {
  std::string out;
  append_list(out, inputs, [&](const c10::IValue& input) {
    if (input.isTensor()) {
      append_sizes(out, input.toTensor());
    } else if (input.isTensorList()) {
      append_list(out, input.toListRef(),
                  [&](const c10::IValue& element) { append_sizes(out, element.toTensor()); });
    } else {
      out += "[]";
    }
  });
  return out;
}

/// The type of an input in Kineto's notation.
std::string type_of(const c10::IValue& input) {
  if (input.isTensor()) {
    if (!input.toTensor().defined()) return {};
    const auto name = input.toTensor().dtype().name();
    return {name.data(), name.size()};
  }
  if (input.isScalar()) return "Scalar";
  if (input.isTensorList()) return "TensorList";
  if (input.isIntList() || input.isDoubleList() || input.isBoolList()) return "ScalarList";
  return {};
}

std::string types_of(c10::ArrayRef<const c10::IValue> inputs) {
  std::string out;
  append_list(out, inputs, [&](const c10::IValue& input) { out += '"' + type_of(input) + '"'; });
  return out;
}

/// The record to which the callbacks write.
class Notes {
 public:
  explicit Notes(const ObserveOptions& options) : options_(options) {}

  bool wants_shapes() const { return options_.shapes; }

  void add_call(OperatorCall call, const char* name, const std::string& shapes, const std::string& types) {
    const std::lock_guard lock(mutex_);
    call.name = id_of(name);
    if (!shapes.empty()) call.shapes = id_of(shapes);
    if (!types.empty()) call.types = id_of(types);
    observed_.calls.push_back(call);
  }

  void add_memory(const MemoryEvent& event) {
    const std::lock_guard lock(mutex_);
    observed_.memory.push_back(event);
  }

  Observed take() {
    const std::lock_guard lock(mutex_);
    return std::move(observed_);
  }

 private:
  int64_t id_of(const std::string& text) {
    const auto [place, is_new] = ids_.try_emplace(text, static_cast<int64_t>(observed_.texts.size()));
    if (is_new) observed_.texts.push_back(text);
    return place->second;
  }

  const ObserveOptions options_;
  std::mutex mutex_;
  Observed observed_;
  std::unordered_map<std::string, int64_t> ids_;
};

/// The notes of the current observer; global, because PyTorch's callbacks are plain functions.
std::atomic<Notes*> current = nullptr;

struct OpenCall final : at::ObserverContext {
  std::string shapes;
  std::string types;
  int64_t start_ns = 0;
};

std::unique_ptr<at::ObserverContext> begin_call(const at::RecordFunction& function) {
  const Notes* notes = current.load(std::memory_order_acquire);
  if (notes == nullptr) return nullptr;
  auto call = std::make_unique<OpenCall>();
  if (notes->wants_shapes()) {
    call->shapes = shapes_of(function.inputs());
    call->types = types_of(function.inputs());
  }
  call->start_ns = base::monotonic_ns();
  return call;
}

/// The context is null if begin_call() threw an exception, which PyTorch catches.
void end_call(const at::RecordFunction& function, at::ObserverContext* context) {
  const int64_t end_ns = base::monotonic_ns();
  Notes* notes = current.load(std::memory_order_acquire);
  if (context == nullptr || notes == nullptr) return;
  const auto& open = static_cast<const OpenCall&>(*context);
  OperatorCall call;
  call.thread = thread_id();
  call.start_ns = open.start_ns;
  call.end_ns = end_ns;
  call.sequence = function.seqNr();
  notes->add_call(call, function.name(), open.shapes, open.types);
}

class MemoryReporter final : public c10::MemoryReportingInfoBase {
 public:
  explicit MemoryReporter(std::shared_ptr<Notes> notes) : notes_(std::move(notes)) {}

  bool memoryProfilingEnabled() const override { return true; }

  void reportMemoryUsage(void* address, int64_t bytes, AllocatorTotal allocated, AllocatorTotal reserved,
                         c10::Device device) override {
    MemoryEvent event;
    event.time_ns = base::monotonic_ns();
    event.thread = thread_id();
    event.address = reinterpret_cast<int64_t>(address);
    event.bytes = bytes;
    event.total_allocated = static_cast<int64_t>(allocated);
    if (!device.is_cpu()) {  // the CPU's allocator reserves nothing
      event.device = device.has_index() ? device.index() : 0;
      event.total_reserved = static_cast<int64_t>(reserved);
    }
    notes_->add_memory(event);
  }

 private:
  std::shared_ptr<Notes> notes_;
};

class TorchObserver final : public Observer {
 public:
  explicit TorchObserver(const ObserveOptions& options) : notes_(std::make_shared<Notes>(options)) {
    Notes* none = nullptr;
    if (!current.compare_exchange_strong(none, notes_.get())) fail_internal("PyTorch is observed already");
    // Observes operators and methods, but neither ranges of
    // a model's author nor statistics for PyTorch's builds.
    handle_ =
        at::addGlobalCallback(at::RecordFunctionCallback(begin_call, end_call)
                                  .needsInputs(options.shapes)
                                  .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION,
                                           at::RecordScope::TORCHSCRIPT_FUNCTION}));
    if (options.memory)
      memory_.emplace(c10::DebugInfoKind::PROFILER_STATE, std::make_shared<MemoryReporter>(notes_));
  }

  ~TorchObserver() override { stop(); }

  Observed finish() override {
    stop();
    return notes_->take();
  }

 private:
  void stop() {
    if (current.load() != notes_.get()) return;
    memory_.reset();
    at::removeCallback(handle_);
    current.store(nullptr);
  }

  std::shared_ptr<Notes> notes_;
  at::CallbackHandle handle_ = at::INVALID_CALLBACK_HANDLE;
  std::optional<c10::DebugInfoGuard> memory_;
};

}  // namespace

std::unique_ptr<Observer> observe_torch(const ObserveOptions& options) {
  return std::make_unique<TorchObserver>(options);
}

}  // namespace hone::backend::aten
