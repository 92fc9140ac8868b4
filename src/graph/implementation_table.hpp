// A table of the functions that implement operators: one row per operator, one list per family of operators,
// and a map over all families.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <unordered_map>

#include "base/error.hpp"

namespace hone::graph {

/// A row. Function: a pointer to a function.
template <class Function>
struct Implementation {
  std::string_view op;
  Function function;
};

template <class Function>
class ImplementationTable {
 public:
  using Family = std::span<const Implementation<Function>>;

  /// Throws an internal error if an operator has two implementations; `what` names them in the message
  /// ("reference kernels").
  ImplementationTable(std::string_view what, std::initializer_list<Family> families) {
    for (const Family family : families) {
      for (const auto& [op, function] : family) {
        if (!functions_.emplace(op, function).second) fail_internal("two {} for {}", what, op);
      }
    }
  }

  /// Null if the operator has no implementation.
  Function find(std::string_view op) const {
    const auto found = functions_.find(op);
    return found == functions_.end() ? nullptr : found->second;
  }

 private:
  std::unordered_map<std::string_view, Function> functions_;
};

}  // namespace hone::graph
