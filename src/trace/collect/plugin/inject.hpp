// Start and end of recording in a process.
#pragma once

namespace hone::trace::inject {

/// Opens this process's file in $HONE_TRACE_FOLDER once; false when that is not set or cannot be written.
bool start_recording();

}  // namespace hone::trace::inject
