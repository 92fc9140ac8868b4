// See event_csv.hpp.
#include "report/export/event_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>

#include "report/terminal/sheet.hpp"
#include "trace/transfer_names.hpp"

namespace hone::report {
namespace {

using trace::DeviceEvent;
using trace::DeviceKind;
using trace::HostKind;

/// Quoted names; each is quoted once.
class Names {
 public:
  explicit Names(const trace::Trace& trace) : trace_(trace) {}
  const std::string& operator[](trace::StringId id) {
    const auto [name, added] = names_.try_emplace(id);
    if (added) name->second = csv_field(trace_.text(id));
    return name->second;
  }

 private:
  const trace::Trace& trace_;
  std::unordered_map<trace::StringId, std::string> names_;
};

/// Returns an empty text if there is no id.
std::string id_text(int64_t id) { return id == trace::kNone ? "" : std::to_string(id); }

const char* memory_text(trace::MemoryKind kind) {
  return kind == trace::MemoryKind::kUnknown ? "" : trace::memory_kind_name(kind);
}

/// Rows without these fields contain only the commas.
constexpr const char* kNoLaunch = ",,,,,,,,";
constexpr const char* kNoTransfer = ",,,";

/// Grid, block, registers, shared memory.
std::string launch_text(const trace::KernelLaunch& launch) {
  if (launch.grid[0] == 0) return kNoLaunch;
  return fmt::format("{},{},{},{},{}", fmt::join(launch.grid, ","), fmt::join(launch.block, ","),
                     launch.registers_per_thread, launch.static_shared_bytes, launch.dynamic_shared_bytes);
}

/// Size, throughput, memory.
std::string transfer_text(const trace::Transfer& transfer, trace::Time duration) {
  const std::string rate =
      duration > 0
          ? fmt::format("{:.6f}", static_cast<double>(transfer.bytes) / static_cast<double>(duration))
          : "";
  return fmt::format("{},{},{},{}", transfer.bytes, rate, memory_text(transfer.source),
                     memory_text(transfer.destination));
}

std::string details_text(const trace::Trace& trace, const DeviceEvent& event) {
  const auto index = static_cast<size_t>(event.detail);
  if (event.detail < 0) return fmt::format("{},{}", kNoLaunch, kNoTransfer);
  if (event.kind == DeviceKind::kKernel)
    return fmt::format("{},{}", launch_text(trace.launches[index]), kNoTransfer);
  return fmt::format("{},{}", kNoLaunch, transfer_text(trace.transfers[index], event.end - event.start));
}

}  // namespace

void gpu_trace_csv(const trace::Trace& trace, const LineSink& line) {
  Names names(trace);
  const trace::Time origin = extent(trace).start;
  line(
      "Start,Duration,Grid X,Grid Y,Grid Z,Block X,Block Y,Block Z,Registers Per Thread,Static SMem,Dynamic "
      "SMem,Size,"
      "Throughput,SrcMemType,DstMemType,Device,Context,Stream,Name,Correlation_ID");
  line("ns,ns,,,,,,,,bytes,bytes,bytes,GB/s,,,,,,,");
  for (const DeviceEvent& event : trace.device_events) {
    line(fmt::format("{},{},{},{},{},{},{},{}", event.start - origin, event.end - event.start,
                     details_text(trace, event), event.device, id_text(event.context), id_text(event.stream),
                     names[event.name], id_text(event.correlation)));
  }
}

void api_trace_csv(const trace::Trace& trace, const LineSink& line) {
  Names names(trace);
  const trace::Time origin = extent(trace).start;
  line("Start,Duration,Process,Thread,Name,Result,Correlation_ID");
  line("ns,ns,,,,,");
  for (const trace::HostEvent& event : trace.host_events) {
    if (event.kind != HostKind::kRuntimeApi && event.kind != HostKind::kDriverApi) continue;
    const trace::Thread& thread = trace.threads[static_cast<size_t>(event.thread)];
    line(fmt::format("{},{},{},{},{},{},{}", event.start - origin, event.end - event.start, thread.process,
                     thread.id, names[event.name], event.result, id_text(event.correlation)));
  }
}

}  // namespace hone::report
