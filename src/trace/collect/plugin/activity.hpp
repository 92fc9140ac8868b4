// CUPTI's activity records: buffers, and their translation to ours.
#pragma once

#include <string>

namespace hone::trace::inject {

/// Enables the kinds of activity that a trace holds. Returns what is wrong, or an empty text; kinds that this
/// CUPTI does not have are reported as losses.
std::string start_activities(bool driver_api);
/// Hands all finished and unfinished buffers over, and says how many records CUPTI dropped.
void flush_activities();

}  // namespace hone::trace::inject
