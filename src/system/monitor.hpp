// Watches the machine while a configuration runs: processor time that others use, time stolen by the
// hypervisor, thermal throttling, and the memory of the worker. All from /proc and /sys.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <set>
#include <span>
#include <string>

namespace hone::system {

/// Counters since the system's start.
struct CpuCounters {
  double busy_s = 0;   ///< user, nice, system, interrupts, of all cores together
  double near_s = 0;   ///< of the cores near this process
  double steal_s = 0;  ///< of these, taken by the hypervisor
  double own_s = 0;    ///< of the worker, of this process and of the processes that it started to disturb
  int64_t throttle_events = 0;
  double wall_s = 0;
};

constexpr pid_t kNoWorker = -1;

/// Near are the cores that this process may use, and those that share a physical one with them.
/// `busy`: processes that belong to the setup, as those of BusyThreads.
CpuCounters read_cpu_counters(pid_t worker, std::span<const pid_t> busy = {});

/// busy_s, near_s and steal_s of `stat`, the text of /proc/stat. All counts as near where the text has no
/// lines of single cores, or `near` is empty: not known.
CpuCounters parse_cpu_counters(std::istream& stat, const std::set<int>& near);

/// The numbers of a list as the kernel writes it: "0-2,8" is 0, 1, 2 and 8.
std::set<int> parse_cpu_list(const std::string& text);

/// Events on the machine while a configuration was being measured, summed over its rounds.
struct Interference {
  double capacity_s = 0;  ///< cores that this process may use times wall time
  double other_s = 0;     ///< a few ticks of rounding below 0 where there was nobody
  double near_s = 0;      ///< of it, on near cores
  double steal_s = 0;
  int64_t throttle_events = 0;

  void add(const CpuCounters& before, const CpuCounters& after, int cores);
  /// Shares of the capacity; above 1 where others keep many cores busy that this process may not use.
  double other_share() const { return share(other_s); }
  double near_share() const { return share(near_s); }
  double steal_share() const { return share(steal_s); }

 private:
  double share(double seconds) const { return capacity_s > 0 ? std::max(0.0, seconds) / capacity_s : 0; }
};

struct ProcessMemory {
  int64_t resident = 0;       ///< VmRSS in bytes; 0 when the process is gone
  int64_t peak_resident = 0;  ///< VmHWM in bytes
};

ProcessMemory read_process_memory(pid_t pid);

/// MemAvailable, or what is left of the limit of the control group (version 2) where that is less, in bytes
/// and at least 1; 0 when unknown.
int64_t available_memory(const std::filesystem::path& group = "/sys/fs/cgroup");

}  // namespace hone::system
