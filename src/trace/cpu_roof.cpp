// See cpu_roof.hpp.
#include "trace/cpu_roof.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/json.hpp"
#include "base/units.hpp"

namespace hone::trace {
namespace {

constexpr const char* kKey = "cpu_roof";
constexpr size_t kMostLevels = 16;
constexpr double kMostThreads = 1e5;
constexpr double kDisturbed = 0.05;

bool is_rate(double value) { return std::isfinite(value) && value > 0; }

double number(const Json& json, const char* name) {
  const auto found = json.is_object() ? json.find(name) : json.end();
  return json.is_object() && found != json.end() && found->is_number() ? found->get<double>() : 0;
}

}  // namespace

double CpuRoof::flops_in(const std::string& precision) const {
  const auto found = flops_per_second.find(precision.substr(0, precision.find('+')));
  return found == flops_per_second.end() ? 0 : found->second;
}

double CpuRoof::bandwidth_for(double bytes) const {
  for (const Level& level : levels) {
    if (level.bytes <= 0 || bytes <= level.bytes) return level.bytes_per_second;
  }
  return memory_bandwidth();
}

std::string CpuRoof::text(const std::string& precision) const {
  constexpr double kGiga = 1e9;
  std::string rates;
  if (const double flops = flops_in(precision); flops > 0)
    rates += fmt::format("{:.4g} GFLOP/s in {}", flops / kGiga, precision.substr(0, precision.find('+')));
  for (size_t i = levels.size(); i-- > 0;) {
    const Level& level = levels[i];
    rates +=
        fmt::format("{}{} from {}", rates.empty() ? "" : ", ", base::rate_text(level.bytes_per_second),
                    level.bytes > 0 ? fmt::format("caches of {}", base::bytes_text(level.bytes)) : "memory");
  }
  std::string text =
      fmt::format("measured on this CPU with {} thread{}: {}", threads, threads == 1 ? "" : "s", rates);
  if (other_share >= kDisturbed)
    text += fmt::format("; other processes used {} of the CPU meanwhile, so these rates are too low",
                        base::share_text(other_share));
  return text;
}

std::optional<CpuRoof> CpuRoof::parse(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  CpuRoof roof;
  const double threads = number(json, "threads");
  if (!(threads >= 1 && threads <= kMostThreads)) return std::nullopt;
  roof.threads = static_cast<int>(threads);
  if (!json.contains("flops_per_second") || !json.contains("levels")) return std::nullopt;
  roof.other_share = number(json, "other_share");
  for (const auto& [precision, value] : json["flops_per_second"].items()) {
    if (!value.is_number() || !is_rate(value.get<double>())) return std::nullopt;
    roof.flops_per_second[precision] = value.get<double>();
  }
  for (const Json& row : json["levels"]) {
    const Level level{number(row, "bytes"), number(row, "bytes_per_second")};
    if (!is_rate(level.bytes_per_second) || level.bytes < 0 || roof.levels.size() == kMostLevels)
      return std::nullopt;
    roof.levels.push_back(level);
  }
  return roof;
}

std::string CpuRoof::json() const {
  Json rows = Json::array();
  for (const Level& level : levels)
    rows.push_back({{"bytes", level.bytes}, {"bytes_per_second", level.bytes_per_second}});
  return Json{{"threads", threads},
              {"flops_per_second", flops_per_second},
              {"other_share", other_share},
              {"levels", std::move(rows)}}
      .dump();
}

std::optional<CpuRoof> CpuRoof::of(const Trace& trace) {
  const auto found = trace.metadata.find(kKey);
  return found == trace.metadata.end() ? std::nullopt : parse(found->second);
}

void describe_roof(Trace& trace, const CpuRoof& roof) { trace.metadata[kKey] = roof.json(); }

}  // namespace hone::trace
