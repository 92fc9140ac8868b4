// Times of an executable's steps on a GPU, by the profiler of its own system.
#pragma once

#include <map>
#include <span>
#include <string>

#include "backend/backend.hpp"

namespace hone::backend::partition {

/// Microseconds of each step of a run, by the step's name, the median of `runs` runs; empty where the system
/// reports nothing, or not for this executable. Each layer has a clock around it, so their sum is more than a
/// run takes.
std::map<std::string, double> profile_steps(Executable& executable, std::span<const tensor::Tensor> inputs,
                                            int runs);

}  // namespace hone::backend::partition
