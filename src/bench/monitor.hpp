// Watches the machine while a configuration runs: processor time that others use, time stolen by the
// hypervisor, thermal throttling, and the memory of the worker. All from /proc and /sys.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iosfwd>

namespace hone::bench {

/// Counters since the system's start.
struct CpuCounters {
  double busy_s = 0;       ///< user, nice, system, interrupts, of the cores that this process may use
  double elsewhere_s = 0;  ///< of the other cores
  double steal_s = 0;      ///< taken by the hypervisor
  double own_s = 0;        ///< of the worker and of this process
  int64_t throttle_events = 0;
  double wall_s = 0;
};

CpuCounters read_cpu_counters(pid_t worker);

/// busy_s, elsewhere_s and steal_s of `stat`, the text of /proc/stat, for a process that may use the cores
/// for which `usable` is true. A text without lines of single cores counts as that of usable ones.
CpuCounters parse_cpu_counters(std::istream& stat, const std::function<bool(int core)>& usable);

/// What happened on the machine while a configuration was being measured, summed over its rounds.
struct Interference {
  double capacity_s = 0;   ///< cores that this process may use times wall time
  double other_s = 0;      ///< of these cores; a few ticks of rounding below 0 where there was nobody
  double elsewhere_s = 0;  ///< of the machine's other cores
  double steal_s = 0;
  int64_t throttle_events = 0;

  void add(const CpuCounters& before, const CpuCounters& after, int cores);
  /// Shares of the capacity; what is used elsewhere may pass 1.
  double other_share() const { return capacity_s > 0 ? std::max(0.0, other_s) / capacity_s : 0; }
  double elsewhere_share() const { return capacity_s > 0 ? elsewhere_s / capacity_s : 0; }
  double steal_share() const { return capacity_s > 0 ? steal_s / capacity_s : 0; }
};

struct ProcessMemory {
  int64_t resident = 0;       ///< VmRSS in bytes; 0 when the process is gone
  int64_t peak_resident = 0;  ///< VmHWM in bytes
};

ProcessMemory read_process_memory(pid_t pid);

/// MemAvailable in bytes; 0 when unknown.
int64_t available_memory();

}  // namespace hone::bench
