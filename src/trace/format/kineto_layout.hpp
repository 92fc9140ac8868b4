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
  std::vector<Time> ends;             ///< limited to the end of the enclosing event on the same thread
  std::vector<int64_t> external_ids;  ///< of operators: their own, from 1; of API calls: the id of the
                                      ///< innermost operator, or 0
  std::vector<int64_t> parents;       ///< Python functions: index of the enclosing function; else kNone
  std::unordered_map<size_t, std::string> step_names;  ///< names of the iterations that are written as steps
  /// For each correlation: the outermost API call, and the external id of the launched operation.
  std::unordered_map<int64_t, size_t> launches;
  int64_t cut = 0;  ///< number of intervals that had to be cut
};

HostLayout lay_out(const Trace& trace);

/// True for operators and the collectives of frameworks, to which API calls are assigned.
bool owns_calls(const Trace& trace, const HostEvent& event);

/// The process to whose rows a device event belongs, by its launch, else by its context; kNone if unknown.
int64_t process_of(const Trace& trace, const HostLayout& layout, int64_t correlation, int64_t context);

}  // namespace hone::trace
