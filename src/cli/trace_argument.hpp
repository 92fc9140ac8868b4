// Opens a trace that a user named; if the file is of another kind, the error says which command takes it.
#pragma once

#include <string>
#include <string_view>

#include "trace/trace.hpp"

namespace hone::cli {

/// Like trace::open_trace. Bad input for an engine, a result of hone bench, a partition or a model, with the
/// command that takes it; a usage error for the name of a built-in model.
trace::Trace open_given_trace(const std::string& path);

/// For `hone diff`: throws a usage error if another command compares files of these kinds.
void refuse_other_comparisons(const std::string& a, const std::string& b);

}  // namespace hone::cli
