// Buffers of CUPTI's activity records, and their translation to our records.
#pragma once

#include <string>

namespace hone::trace::inject {

/// Enables the kinds of activity that a trace holds. Returns a description of the error, or an empty text;
/// kinds that this CUPTI does not have are reported as losses.
std::string start_activities(bool driver_api);
/// Passes on all buffers, finished or not, and reports the number of records that CUPTI dropped.
void flush_activities();

}  // namespace hone::trace::inject
