// Start and end of recording in a process.
#pragma once

namespace hone::trace::inject {

/// Opens the file of this process in $HONE_TRACE_FOLDER once; returns false if the variable is not set or the
/// file cannot be written.
bool start_recording();

}  // namespace hone::trace::inject
