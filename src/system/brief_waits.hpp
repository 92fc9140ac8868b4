// How threads of OpenMP wait for each other.
#pragma once

namespace hone::system {

/// Starts the running program again, with these arguments, so that its threads spin for microseconds only and
/// then sleep where they wait for each other: libgomp lets them spin for milliseconds, which keeps the thread
/// that they wait for from a core that others use too. It reads that once, when it is loaded. Nothing happens
/// where the user has said it (GOMP_SPINCOUNT, OMP_WAIT_POLICY) or the program cannot be started; programs
/// that this one starts are not told.
void wait_briefly(char** arguments);

}  // namespace hone::system
