// Converts the work that a device has recorded itself into rows of a trace.
#pragma once

#include "base/device_record.hpp"
#include "trace/trace.hpp"

namespace hone::trace {

/// Adds a device's recording for this process. `cycle` separates the numbers of several recordings.
void add_device_record(Trace& trace, const base::DeviceRecord& record, int64_t process, int64_t cycle);

}  // namespace hone::trace
