// Prepares the data that a Kineto file needs besides the rows of a trace: ids that join operators, API calls
// and kernels, intervals that nest, and names of steps. The rules are those of docs/TRACE.md, "What readers
// of Kineto files need".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/trace.hpp"

namespace hone::trace {

/// For each host event of a trace, by index.
struct HostLayout {
  std::vector<Time> ends;  ///< cut to the end of the event that encloses it on its thread
  std::vector<int64_t>
      external_ids;              ///< operators: their own, from 1; API calls: of the innermost operator, or 0
  std::vector<int64_t> parents;  ///< Python functions: index of the enclosing one; else kNone
  std::unordered_map<size_t, std::string> step_names;  ///< iterations, to be written as such
  /// For each correlation: the API call nearest the program, and the external id of the launched operation.
  std::unordered_map<int64_t, size_t> launches;
  int64_t cut = 0;  ///< intervals that had to be cut
};

HostLayout lay_out(const Trace& trace);

/// Operators and the collectives of frameworks: what an API call is ascribed to.
bool owns_calls(const Trace& trace, const HostEvent& event);

/// The process whose rows a device event belongs to, by its launch, else its context; kNone when not known.
int64_t process_of(const Trace& trace, const HostLayout& layout, int64_t correlation, int64_t context);

}  // namespace hone::trace
