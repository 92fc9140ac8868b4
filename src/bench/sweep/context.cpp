// See context.hpp.
#include "bench/sweep/context.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/clock.hpp"
#include "base/version.hpp"
#include "system/cpu.hpp"
#include "system/monitor.hpp"

namespace hone::bench {
namespace {

Json instruction_sets() {
  constexpr std::array kNames = {"sse4_2",   "avx",      "avx2",        "fma",      "f16c",
                                 "avx512f",  "avx512bw", "avx512_vnni", "avx_vnni", "avx512_bf16",
                                 "amx_tile", "amx_int8", "amx_bf16"};
  std::istringstream flags(system::cpuinfo_value("flags"));
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
  const std::string text = system::cpuinfo_value("cpu MHz");
  return text.empty() ? Json(nullptr) : Json(std::strtod(text.c_str(), nullptr));
}

Json load_average() {
  std::array<double, 3> load{};
  if (::getloadavg(load.data(), 3) != 3) return nullptr;
  return {load[0], load[1], load[2]};
}

}  // namespace

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
          {"cpu", system::cpu_name()},
          {"instruction_sets", instruction_sets()},
          {"cores", system::usable_cores()},
          {"governor", first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")},
          {"frequency_mhz", frequency_mhz()},
          {"memory_mb", memory / 1e6},
          {"available_memory_mb", static_cast<double>(system::available_memory()) / 1e6},
          {"load_average", load_average()}};
}

}  // namespace hone::bench
