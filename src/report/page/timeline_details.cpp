// See timeline_details.hpp.
#include "report/page/timeline_details.hpp"

#include "analysis/names.hpp"
#include "trace/occupancy.hpp"

namespace hone::report {
namespace {

void add_text(const trace::Trace& trace, const char* name, trace::StringId text, Json* json) {
  if (text != 0) (*json)[name] = trace.text(text);
}

}  // namespace

uint32_t TimelineDetails::of(const TrackEvent& event) {
  if (event.host >= 0) {
    const trace::HostEvent& call = trace_.host_events[static_cast<size_t>(event.host)];
    if (call.detail >= 0 && call.kind == trace::HostKind::kOperator)
      return number_of(operation(trace_.operators[static_cast<size_t>(call.detail)]));
    return call.result == 0 ? 0 : number_of({{"result", call.result}});
  }
  const trace::DeviceEvent& work = trace_.device_events[static_cast<size_t>(event.device)];
  if (work.detail < 0) return 0;
  const auto detail = static_cast<size_t>(work.detail);
  return number_of(work.kind == trace::DeviceKind::kKernel ? launch(trace_.launches[detail], work)
                                                           : transfer(trace_.transfers[detail]));
}

uint32_t TimelineDetails::number_of(Json detail) {
  if (detail.empty()) return 0;
  const auto [found, is_new] = known_.try_emplace(detail.dump(-1, ' ', false, Json::error_handler_t::replace),
                                                  static_cast<uint32_t>(list_.size() + 1));
  if (is_new) list_.push_back(std::move(detail));
  return found->second;
}

Json TimelineDetails::launch(const trace::KernelLaunch& launch, const trace::DeviceEvent& event) const {
  Json json = {{"grid", launch.grid}, {"block", launch.block}};
  if (launch.cluster[0] > 0) json["cluster"] = launch.cluster;
  json["registers_per_thread"] = launch.registers_per_thread;
  json["static_shared_bytes"] = launch.static_shared_bytes;
  json["dynamic_shared_bytes"] = launch.dynamic_shared_bytes;
  if (launch.local_bytes_per_thread > 0) json["local_bytes_per_thread"] = launch.local_bytes_per_thread;
  if (launch.programmatic) json["programmatic_launch"] = true;
  if (const trace::DeviceProperties* device = trace_.find_device(event.device)) {
    const double occupancy = trace::estimated_occupancy(launch, *device);
    if (occupancy >= 0) json["estimated_occupancy_percent"] = occupancy;
    const double blocks = trace::blocks_per_multiprocessor(launch, *device);
    if (blocks >= 0) json["blocks_per_sm"] = blocks;
  }
  add_text(trace_, "collective", launch.collective, &json);
  return json;
}

Json TimelineDetails::transfer(const trace::Transfer& transfer) const {
  return {{"bytes", transfer.bytes},
          {"direction", analysis::direction_name(transfer.direction)},
          {"source", analysis::memory_name(transfer.source)},
          {"destination", analysis::memory_name(transfer.destination)}};
}

Json TimelineDetails::operation(const trace::OperatorDetail& detail) const {
  Json json = Json::object();
  add_text(trace_, "input_shapes", detail.input_shapes, &json);
  add_text(trace_, "input_types", detail.input_types, &json);
  add_text(trace_, "module", detail.module, &json);
  add_text(trace_, "call_stack", detail.call_stack, &json);
  return json;
}

}  // namespace hone::report
