// Rows of the critical path by kind and name.
#pragma once

#include <vector>

#include "analysis/questions/critical_path.hpp"

namespace hone::analysis {

class FunctionTable {
 public:
  explicit FunctionTable(const EventGraph& graph) : graph_(graph) {}

  /// The row's number, added when it is new.
  int32_t number(ChargeKind kind, StringId name);
  FunctionTime& at(ChargeKind kind, StringId name) { return rows_[static_cast<size_t>(number(kind, name))]; }
  FunctionTime& operator[](int32_t number) { return rows_[static_cast<size_t>(number)]; }
  FunctionTime& of(const Operation& operation) { return at(charge_kind(operation.kind), operation.name); }

  /// Sorts the rows; the new number of each old one.
  std::vector<int32_t> sort();
  std::vector<FunctionTime> take() { return std::move(rows_); }

 private:
  const EventGraph& graph_;
  std::vector<FunctionTime> rows_;
  std::vector<std::vector<int32_t>> numbers_;  ///< by kind, then name
};

/// Counts calls and operations, and adds the waiting time of each.
void add_waiting(const EventGraph& graph, FunctionTable& table);
/// Adds waiting time to the functions that ran during it, and idle time of devices to the host's functions
/// during it.
void add_blame(const EventGraph& graph, FunctionTable& table);

}  // namespace hone::analysis
