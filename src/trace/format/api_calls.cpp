// See api_calls.hpp.
#include "trace/format/api_calls.hpp"

#include <unordered_map>
#include <vector>

namespace hone::trace {
namespace {

bool is_asynchronous(std::string_view name) {
  return name.find("Async") != std::string_view::npos || name.find("GraphLaunch") != std::string_view::npos;
}

/// Removes the suffix of "name_v7000"; version suffixes of the driver's own functions (_v2) are shorter and
/// stay.
std::string_view without_version(std::string_view name) {
  constexpr size_t kShortest = std::string_view("_v3020").size();
  const size_t mark = name.rfind("_v");
  const bool version = mark != std::string_view::npos && name.size() - mark >= kShortest &&
                       name.find_first_not_of("0123456789", mark + 2) == std::string_view::npos;
  return version ? name.substr(0, mark) : name;
}

}  // namespace

std::string_view plain_api_name(std::string_view recorded) {
  std::string_view name = without_version(recorded);
  for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  return name;
}

HostKind api_kind(std::string_view name) {
  const bool driver = name.size() > 2 && name.starts_with("cu") && name[2] >= 'A' && name[2] <= 'Z';
  return driver ? HostKind::kDriverApi : HostKind::kRuntimeApi;
}

void mark_asynchronous(Trace& trace) {
  std::unordered_map<int64_t, std::vector<int32_t>> transfers;  // the transfers of each correlation
  for (const DeviceEvent& event : trace.device_events) {
    if (event.kind != DeviceKind::kKernel && event.correlation != kNone && event.detail >= 0)
      transfers[event.correlation].push_back(event.detail);
  }
  if (transfers.empty()) return;
  std::unordered_map<StringId, bool> names;
  for (const HostEvent& event : trace.host_events) {
    if (event.kind != HostKind::kRuntimeApi && event.kind != HostKind::kDriverApi) continue;
    const auto [name, added] = names.emplace(event.name, false);
    if (added) name->second = is_asynchronous(trace.text(event.name));
    if (!name->second) continue;
    const auto found = transfers.find(event.correlation);
    if (found == transfers.end()) continue;
    for (const int32_t index : found->second) trace.transfers[static_cast<size_t>(index)].asynchronous = true;
  }
}

}  // namespace hone::trace
