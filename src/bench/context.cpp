// See context.hpp.
#include "bench/context.hpp"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/clock.hpp"
#include "base/version.hpp"
#include "bench/monitor.hpp"

namespace hone::bench {
namespace {

/// The value of the first "name : value" line of /proc/cpuinfo.
std::string cpuinfo_value(const std::string& name) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(name, 0) != 0) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

Json instruction_sets() {
  constexpr std::array kNames = {"sse4_2",   "avx",      "avx2",        "fma",      "f16c",
                                 "avx512f",  "avx512bw", "avx512_vnni", "avx_vnni", "avx512_bf16",
                                 "amx_tile", "amx_int8", "amx_bf16"};
  std::istringstream flags(cpuinfo_value("flags"));
  std::vector<std::string> have;
  for (std::string flag; flags >> flag;) have.push_back(flag);
  Json list = Json::array();
  for (const char* name : kNames) {
    if (std::find(have.begin(), have.end(), name) != have.end()) list.push_back(name);
  }
  return list;
}

/// First line of a file, or null.
Json first_line(const std::string& path) {
  std::string line;
  std::ifstream file(path);
  return std::getline(file, line) && !line.empty() ? Json(line) : Json(nullptr);
}

Json frequency_mhz() {
  double kilohertz = 0;
  if (std::ifstream("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq") >> kilohertz)
    return kilohertz / 1e3;
  const std::string text = cpuinfo_value("cpu MHz");
  return text.empty() ? Json(nullptr) : Json(std::strtod(text.c_str(), nullptr));
}

Json load_average() {
  std::array<double, 3> load{};
  if (::getloadavg(load.data(), 3) != 3) return nullptr;
  return {load[0], load[1], load[2]};
}

}  // namespace

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

Json describe_context(const std::vector<std::string>& command_line) {
  utsname system{};
  ::uname(&system);
  const auto memory =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  return {{"date", base::utc_date()},
          {"command_line", command_line},
          {"hone_version", base::version()},
          {"hone_commit", base::commit()},
          {"host", system.nodename},
          {"kernel", std::string(system.sysname) + " " + system.release},
          {"cpu", cpu_name()},
          {"instruction_sets", instruction_sets()},
          {"cores", usable_cores()},
          {"governor", first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")},
          {"frequency_mhz", frequency_mhz()},
          {"memory_mb", memory / 1e6},
          {"available_memory_mb", static_cast<double>(available_memory()) / 1e6},
          {"load_average", load_average()}};
}

}  // namespace hone::bench
