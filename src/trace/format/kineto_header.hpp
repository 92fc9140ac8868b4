// What a Kineto file says beside its events: devices, clock, metadata.
#pragma once

#include <cstddef>
#include <string_view>

#include "trace/trace.hpp"

namespace hone::trace {

class KinetoHeader {
 public:
  /// A member of the outermost object, with its value as JSON.
  void add(std::string_view key, std::string_view text);
  /// Puts what was found into the trace.
  void apply(Trace& trace);

 private:
  bool add_devices(std::string_view text);
  bool add_doubts(std::string_view text);

  Trace found_;  // devices, metadata and doubts alone
  size_t refused_ = 0;
};

/// The member under which our writer keeps `Trace::doubts`.
constexpr std::string_view kDoubtsMember = "traceDoubts";

}  // namespace hone::trace
