// Reads /proc/cpuinfo and the affinity mask.
#include "system/cpu.hpp"

#include <sched.h>
#include <unistd.h>

#include <fstream>

namespace hone::system {

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0)
    return static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  return CPU_COUNT(&set);
}

std::vector<int> usable_core_numbers() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> numbers;
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return numbers;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) numbers.push_back(core);
  }
  return numbers;
}

std::string cpu_name() {
  const std::string name = cpuinfo_value("model name");
  return name.empty() ? "unknown" : name;
}

std::string cpuinfo_value(const std::string& name) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(name, 0) != 0) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

}  // namespace hone::system
