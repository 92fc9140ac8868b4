// See cpu_roof.hpp.
#include "record/cpu_roof.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/fnv.hpp"
#include "system/cpu.hpp"
#include "system/cpu_probe.hpp"
#include "system/monitor.hpp"

namespace hone::record {
namespace {

/// Must be increased when the meaning of the file changes.
constexpr int kVersion = 1;
constexpr double kQuiet = 0.05;  ///< share of the CPU that other processes may use
constexpr uint64_t kMostBytes = 1 << 16;

/// Returns an empty path if there is no cache folder.
std::filesystem::path cache_file(int threads) {
  const std::filesystem::path folder = base::cache_directory();
  if (folder.empty()) return {};
  base::Fnv1a hash;
  hash.add_characters(system::cpu_name());
  hash.add_characters(system::cpuinfo_value("flags"));
  return folder / "roof" /
         fmt::format("{:016x}-{}-cores-{}-threads-v{}.json", hash.value(), system::usable_cores(), threads,
                     kVersion);
}

std::optional<trace::CpuRoof> read(const std::filesystem::path& file) {
  std::error_code missing;
  if (file.empty() || !std::filesystem::is_regular_file(file, missing)) return std::nullopt;
  try {
    return trace::CpuRoof::parse(base::read_file(file, kMostBytes));
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Errors are ignored: without a writable cache, nothing is stored.
void keep(const trace::CpuRoof& roof, const std::filesystem::path& file) {
  if (file.empty()) return;
  try {
    std::filesystem::create_directories(file.parent_path());
    base::write_file_atomic(file, roof.json() + "\n");
  } catch (const Error&) {
  } catch (const std::filesystem::filesystem_error&) {
  }
}

}  // namespace

trace::CpuRoof cpu_roof(int threads) {
  const std::filesystem::path file = cache_file(threads);
  if (auto cached = read(file)) return *cached;
  const system::CpuCounters before = system::read_cpu_counters(system::kNoWorker);
  const system::CpuRates rates = system::measure_cpu_rates(threads);
  system::Interference interference;
  interference.add(before, system::read_cpu_counters(system::kNoWorker), system::usable_cores());
  trace::CpuRoof roof;
  roof.threads = threads;
  if (rates.fp32 > 0) roof.flops_per_second["fp32"] = rates.fp32;
  if (rates.bf16 > 0) roof.flops_per_second["bf16"] = rates.bf16;
  if (rates.int8 > 0) roof.flops_per_second["int8"] = rates.int8;
  for (const system::MemoryLevel& level : rates.levels)
    roof.levels.push_back({level.bytes, level.bytes_per_second});
  roof.other_share = std::min(interference.other_share(), 1.0);
  if (roof.other_share < kQuiet) keep(roof, file);
  return roof;
}

}  // namespace hone::record
