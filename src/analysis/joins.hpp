// Who launched what: device events joined to API calls by correlation, API calls to operators by external id,
// and by nesting in time where a file has no ids.
#pragma once

#include <functional>
#include <vector>

#include "trace/trace.hpp"

namespace hone::analysis {

/// Indices into Trace::host_events; -1 for none.
using HostIndices = std::vector<int32_t>;

/// Returns for every device event the API call that launched it. Where a runtime and a driver call share a
/// correlation, the outer one.
HostIndices launching_calls(const trace::Trace& trace);

/// Returns for every host event the innermost one around it on its thread that is wanted; never itself. An
/// event that reaches over the end of the one it starts in belongs to it.
HostIndices enclosing_events(const trace::Trace& trace,
                             const std::function<bool(const trace::HostEvent&)>& wanted);

/// For every API call the operator that made it: the one with its external id, else the innermost around it.
/// `around` are the enclosing operators of all host events.
HostIndices calling_operators(const trace::Trace& trace, const HostIndices& around);

bool is_operator(const trace::HostEvent& event);
bool is_api_call(const trace::HostEvent& event);

}  // namespace hone::analysis
