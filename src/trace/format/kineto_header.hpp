// The members of a Kineto file other than its events: devices, clock, metadata.
#pragma once

#include <cstddef>
#include <string_view>

#include "trace/trace.hpp"

namespace hone::trace {

class KinetoHeader {
 public:
  /// A member of the outermost object, with its value as JSON.
  void add(std::string_view key, std::string_view text);
  /// Writes the collected data into the trace.
  void apply(Trace& trace);

 private:
  bool add_devices(std::string_view text);
  bool add_doubts(std::string_view text);
  bool add_counter_units(std::string_view text);

  Trace found_;  // only devices, metadata, units and doubts
  size_t refused_ = 0;
};

/// The members under which our writer keeps `Trace::doubts` and `Trace::counter_units`.
constexpr std::string_view kDoubtsMember = "traceDoubts";
constexpr std::string_view kUnitsMember = "counterUnits";

}  // namespace hone::trace
