// Observes the inside of a system's runs: calls of operators, and memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/device_record.hpp"

namespace hone::backend {

struct ObserveOptions {
  /// Shapes and types of every operator's inputs.
  bool shapes = false;
  /// Memory that the system's allocators allocate and free.
  bool memory = false;
  /// Work of a GPU, timed by the system itself (Executable::times_device()).
  bool device = false;
  /// Every step is awaited before the next one begins, so that its range is its time. It is for devices that
  /// the system does not time itself.
  bool awaited_steps = false;
};

/// One call of an operator. Calls of one thread nest. Times are base::monotonic_ns().
struct OperatorCall {
  int64_t name = 0;    ///< index into Observed::texts
  int64_t thread = 0;  ///< the system's id
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t sequence = -1;  ///< autograd's number, which joins forward and backward; -1 for none
  /// Indices into Observed::texts of JSON lists with an entry for each input, in Kineto's form:
  /// [[1,3,8,8],[],[[2],[2]]] and ["float","Scalar","TensorList"]; -1 if not known.
  int64_t shapes = -1;
  int64_t types = -1;
};

/// Memory allocated (bytes > 0) or freed (bytes < 0).
struct MemoryEvent {
  int64_t time_ns = 0;
  int64_t thread = 0;
  int64_t device = -1;  ///< -1 for the host
  int64_t address = 0;
  int64_t bytes = 0;
  /// Totals after the event, as the allocator reports them; -1 if unknown.
  int64_t total_allocated = -1;
  int64_t total_reserved = -1;
};

struct Observed {
  std::vector<std::string> texts;
  std::vector<OperatorCall> calls;  ///< in the order in which they ended
  std::vector<MemoryEvent> memory;
  base::DeviceRecord device;
};

/// Watches the work of the thread that made it, until finish() or its destruction.
class Observer {
 public:
  Observer() = default;
  virtual ~Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  /// Must be called at most once.
  virtual Observed finish() = 0;
};

}  // namespace hone::backend
