// Which function implements which operator: one row an operator, one list a family of them, and a map over
// the families.
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

  /// Internal error for an operator that has two, `what` ("reference kernels").
  ImplementationTable(std::string_view what, std::initializer_list<Family> families) {
    for (const Family family : families) {
      for (const auto& [op, function] : family) {
        if (!functions_.emplace(op, function).second) fail_internal("two {} for {}", what, op);
      }
    }
  }

  /// Null for an operator that has none.
  Function find(std::string_view op) const {
    const auto found = functions_.find(op);
    return found == functions_.end() ? nullptr : found->second;
  }

 private:
  std::unordered_map<std::string_view, Function> functions_;
};

}  // namespace hone::graph
