// Checks a trace that a user named; for a file of another kind it says which command takes it.
#pragma once

#include <string>
#include <string_view>

#include "trace/trace.hpp"

namespace hone::cli {

/// As trace::open_trace; bad input for an engine, a result of hone bench, a partition and a model, with the
/// command that takes them, and usage error for the name of a built-in model.
trace::Trace open_given_trace(const std::string& path);

/// For `hone diff`: usage error where both are something that another command compares.
void refuse_other_comparisons(const std::string& a, const std::string& b);

}  // namespace hone::cli
