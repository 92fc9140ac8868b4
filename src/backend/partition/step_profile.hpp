// Times of an executable's steps on a GPU, from the profiler of its own system.
#pragma once

#include <map>
#include <span>
#include <string>

#include "backend/backend.hpp"

namespace hone::backend::partition {

/// Microseconds of each step in a run, by name, as medians of `runs`
/// runs; empty if the system reports nothing for this executable.
/// Every layer is timed, so their sum is more than a run takes.
std::map<std::string, double> profile_steps(Executable& executable, std::span<const tensor::Tensor> inputs,
                                            int runs);

}  // namespace hone::backend::partition
