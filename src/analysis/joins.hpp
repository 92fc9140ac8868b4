// Finds who launched what: joins device events to API calls by correlation, and API calls to operators by
// external id or, if a file has no ids, by nesting in time.
#pragma once

#include <functional>
#include <vector>

#include "trace/trace.hpp"

namespace hone::analysis {

/// Indices into Trace::host_events; -1 for none.
using HostIndices = std::vector<int32_t>;

/// Returns for every device event the API call that launched it. If a runtime call and a driver call share a
/// correlation, it is the outer one.
HostIndices launching_calls(const trace::Trace& trace);

/// Returns for every host event the innermost wanted event around it on its thread, never itself. An event
/// that ends after the event in which it starts still belongs to that one.
HostIndices enclosing_events(const trace::Trace& trace,
                             const std::function<bool(const trace::HostEvent&)>& wanted);

/// Returns for every API call the operator that made it: the one with its external id, else the innermost
/// around it. `around` holds the enclosing operators of all host events.
HostIndices calling_operators(const trace::Trace& trace, const HostIndices& around);

bool is_operator(const trace::HostEvent& event);
bool is_api_call(const trace::HostEvent& event);

}  // namespace hone::analysis
