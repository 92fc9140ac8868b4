// Work of a device by its own account, as rows of a trace.
#pragma once

#include "base/device_record.hpp"
#include "trace/trace.hpp"

namespace hone::trace {

/// Adds a recording of that process. `cycle` keeps the numbers of several recordings apart.
void add_device_record(Trace& trace, const base::DeviceRecord& record, int64_t process, int64_t cycle);

}  // namespace hone::trace
