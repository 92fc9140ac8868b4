// Calls of the driver that launch something, as CUPTI reports them.
#pragma once

#include <cupti.h>

#include <vector>

namespace hone::trace::inject {

/// The calls that the measurement of kernels must follow.
std::vector<CUpti_CallbackId> launch_calls();
bool is_graph_launch(CUpti_CallbackId id);
/// True if the call only adds a node to a graph that is captured from its stream: nothing runs then, and
/// waiting for it would break the capture.
bool is_being_captured(CUpti_CallbackId id, const CUpti_CallbackData& call);

}  // namespace hone::trace::inject
