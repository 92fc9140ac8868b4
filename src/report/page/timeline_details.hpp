// Details of timeline events besides name and times: the launch of a kernel, the data of a copy, the inputs
// of an operator. Equal details are stored once.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "report/page/timeline_tracks.hpp"

namespace hone::report {

class TimelineDetails {
 public:
  explicit TimelineDetails(const trace::Trace& trace) : trace_(trace) {}

  /// Index of the event's details in the list, counted from 1; 0 if it has none.
  uint32_t of(const TrackEvent& event);
  std::vector<Json> take() { return std::move(list_); }

 private:
  uint32_t number_of(Json detail);
  Json launch(const trace::KernelLaunch& launch, const trace::DeviceEvent& event) const;
  Json transfer(const trace::Transfer& transfer) const;
  Json operation(const trace::OperatorDetail& detail) const;

  const trace::Trace& trace_;
  std::vector<Json> list_;
  std::map<std::string, uint32_t, std::less<>> known_;
};

}  // namespace hone::report
