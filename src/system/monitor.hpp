// Watches the machine while a configuration runs: CPU time that others use, time stolen by the hypervisor,
// thermal throttling, and the memory of the worker; all from /proc and /sys.
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
  double busy_s = 0;   ///< user, nice, system and interrupt time of all cores together
  double near_s = 0;   ///< of the cores near this process
  double steal_s = 0;  ///< of these, the time taken by the hypervisor
  double own_s = 0;    ///< of the worker, of this process, and of the busy processes that it started
  int64_t throttle_events = 0;
  double wall_s = 0;
};

constexpr pid_t kNoWorker = -1;

/// Near cores are those that this process may use, and those that share a physical core with them. `busy`
/// lists processes that belong to the setup, such as those of BusyThreads.
CpuCounters read_cpu_counters(pid_t worker, std::span<const pid_t> busy = {});

/// busy_s, near_s and steal_s from `stat`, the text of /proc/stat. All time counts as near if the text has no
/// lines for single cores, or if `near` is empty because it is unknown.
CpuCounters parse_cpu_counters(std::istream& stat, const std::set<int>& near);

/// Parses a list in the kernel's format: "0-2,8" is 0, 1, 2 and 8.
std::set<int> parse_cpu_list(const std::string& text);

/// Disturbances on the machine during a measurement, summed over its rounds.
struct Interference {
  double capacity_s = 0;  ///< cores that this process may use times wall time
  double other_s = 0;     ///< may be slightly negative because of rounding to ticks
  double near_s = 0;      ///< the part of it on near cores
  double steal_s = 0;
  int64_t throttle_events = 0;

  void add(const CpuCounters& before, const CpuCounters& after, int cores);
  /// Shares of the capacity; above 1 if others keep many cores busy that this process may not use.
  double other_share() const { return share(other_s); }
  double near_share() const { return share(near_s); }
  double steal_share() const { return share(steal_s); }

 private:
  double share(double seconds) const { return capacity_s > 0 ? std::max(0.0, seconds) / capacity_s : 0; }
};

struct ProcessMemory {
  int64_t resident = 0;       ///< VmRSS in bytes; 0 if the process is gone
  int64_t peak_resident = 0;  ///< VmHWM in bytes
};

ProcessMemory read_process_memory(pid_t pid);

/// MemAvailable, or the remaining limit of the control group (version 2) if that is less, in bytes and at
/// least 1; 0 if unknown.
int64_t available_memory(const std::filesystem::path& group = "/sys/fs/cgroup");

}  // namespace hone::system
