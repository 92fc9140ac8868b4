// See monitor.hpp; the formats are those of proc(5).
#include "system/monitor.hpp"

#include <fmt/core.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/clock.hpp"
#include "system/cpu.hpp"

namespace hone::system {
namespace {

double tick_seconds() {
  static const double seconds = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return seconds;
}

/// In nanoseconds, unlike the ticks of /proc/PID/stat; 0 if the process is gone.
double process_cpu_seconds(pid_t pid) {
  clockid_t clock = 0;
  timespec time{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

int64_t read_throttle_events() {
  int64_t sum = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/devices/system/cpu", ignored)) {
    int64_t count = 0;
    if (std::ifstream(entry.path() / "thermal_throttle/core_throttle_count") >> count) sum += count;
  }
  return sum;
}

/// Reads a line "Name:   123 kB" of a /proc file, in bytes; 0 if it is absent.
int64_t read_kilobytes(const std::string& file, const std::string& name) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind(name, 0) == 0) return std::strtoll(line.c_str() + name.size(), nullptr, 10) * 1024;
  }
  return 0;
}

std::set<int> near_cores() {
  std::set<int> near;
  for (const int core : usable_core_numbers()) {
    near.insert(core);
    std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", core));
    std::string siblings;
    std::getline(file, siblings);
    near.merge(parse_cpu_list(siblings));
  }
  return near;
}

}  // namespace

std::set<int> parse_cpu_list(const std::string& text) {
  std::set<int> cores;
  std::istringstream ranges(text);
  for (std::string range; std::getline(ranges, range, ',');) {
    int first = 0;
    int last = 0;
    const int read = std::sscanf(range.c_str(), "%d-%d", &first, &last);
    for (int core = first; read > 0 && core <= (read == 1 ? first : last); ++core) cores.insert(core);
  }
  return cores;
}

CpuCounters parse_cpu_counters(std::istream& stat, const std::set<int>& near) {
  CpuCounters counters;
  double all_steal_s = 0;
  bool cores = false;
  for (std::string line; std::getline(stat, line) && line.rfind("cpu", 0) == 0;) {
    std::istringstream fields(line);
    std::string label;
    double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0, steal = 0;
    fields >> label >> user >> nice >> system >> idle >> wait >> irq >> softirq >> steal;
    const double busy_s = (user + nice + system + irq + softirq) * tick_seconds();
    if (label == "cpu") {
      counters.busy_s = busy_s;
      all_steal_s = steal * tick_seconds();
    } else if (cores = true; near.contains(std::atoi(label.c_str() + 3))) {
      counters.near_s += busy_s;
      counters.steal_s += steal * tick_seconds();
    }
  }
  if (!cores || near.empty()) {
    counters.near_s = counters.busy_s;
    counters.steal_s = all_steal_s;
  }
  return counters;
}

CpuCounters read_cpu_counters(pid_t worker, std::span<const pid_t> busy) {
  std::ifstream file("/proc/stat");
  static const std::set<int> kNear = near_cores();
  CpuCounters counters = parse_cpu_counters(file, kNear);
  counters.own_s = process_cpu_seconds(worker) + process_cpu_seconds(::getpid());
  for (const pid_t pid : busy) counters.own_s += process_cpu_seconds(pid);
  counters.throttle_events = read_throttle_events();
  counters.wall_s = base::seconds_since(base::Clock::time_point());
  return counters;
}

void Interference::add(const CpuCounters& before, const CpuCounters& after, int cores) {
  capacity_s += (after.wall_s - before.wall_s) * cores;
  const double own_s = after.own_s - before.own_s;
  other_s += after.busy_s - before.busy_s - own_s;
  near_s += after.near_s - before.near_s - own_s;
  steal_s += after.steal_s - before.steal_s;
  throttle_events += after.throttle_events - before.throttle_events;
}

ProcessMemory read_process_memory(pid_t pid) {
  const std::string file = "/proc/" + std::to_string(pid) + "/status";
  return {read_kilobytes(file, "VmRSS:"), read_kilobytes(file, "VmHWM:")};
}

int64_t available_memory(const std::filesystem::path& group) {
  const int64_t machine = read_kilobytes("/proc/meminfo", "MemAvailable:");
  int64_t limit = 0;
  int64_t used = 0;
  // Absent, or "max": no limit.
  if (!(std::ifstream(group / "memory.max") >> limit) || !(std::ifstream(group / "memory.current") >> used))
    return machine;
  int64_t dropped = 0;  // memory that can be reclaimed, as MemAvailable counts it
  std::ifstream statistics(group / "memory.stat");
  for (std::string name, value; statistics >> name >> value;) {
    if (name == "inactive_file" || name == "active_file" || name == "slab_reclaimable")
      dropped += std::strtoll(value.c_str(), nullptr, 10);
  }
  return std::min(machine, std::max(int64_t{1}, limit - used + dropped));
}

}  // namespace hone::system
