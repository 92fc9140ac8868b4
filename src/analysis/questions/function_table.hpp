// Rows of the critical path by kind and name.
#pragma once

#include <vector>

#include "analysis/questions/critical_path.hpp"

namespace hone::analysis {

class FunctionTable {
 public:
  explicit FunctionTable(const EventGraph& graph) : graph_(graph) {}

  /// The row's number; adds the row if it is new.
  int32_t number(ChargeKind kind, StringId name);
  FunctionTime& at(ChargeKind kind, StringId name) { return rows_[static_cast<size_t>(number(kind, name))]; }
  FunctionTime& operator[](int32_t number) { return rows_[static_cast<size_t>(number)]; }
  FunctionTime& of(const Operation& operation) { return at(charge_kind(operation.kind), operation.name); }

  /// Sorts the rows; returns the new number of each old one.
  std::vector<int32_t> sort();
  std::vector<FunctionTime> take() { return std::move(rows_); }

 private:
  const EventGraph& graph_;
  std::vector<FunctionTime> rows_;
  std::vector<std::vector<int32_t>> numbers_;  ///< by kind, then name
};

/// Counts calls and operations, and adds the waiting time of each.
void add_waiting(const EventGraph& graph, FunctionTable& table);
/// Adds to each function the waiting time of threads while it ran, and to each host function the idle time of
/// devices meanwhile.
void add_blame(const EventGraph& graph, FunctionTable& table);

}  // namespace hone::analysis
