// How OpenMP threads wait for each other.
#pragma once

namespace hone::system {

/// Restarts the running program with these arguments so that its threads spin only for microseconds and then
/// sleep while they wait for each other. By default, libgomp lets them spin for milliseconds, so they occupy
/// cores that the awaited thread and other programs need. libgomp reads the setting only when it is loaded.
/// Nothing happens if the user has chosen a setting (GOMP_SPINCOUNT, OMP_WAIT_POLICY) or if the program
/// cannot be restarted; child processes do not inherit the setting.
void wait_briefly(char** arguments);

}  // namespace hone::system
