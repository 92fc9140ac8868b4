// The rows of a trace as text, a line each, with names in place of ids: for comparing traces in tests.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "trace/store_schema.hpp"
#include "trace/trace.hpp"

namespace hone::trace {

template <class Value>
std::string cell(const Trace& trace, const Value& value, int index) {
  if constexpr (std::is_same_v<Value, StringId>) {
    return "'" + trace.text(value) + "'";
  } else if constexpr (std::is_enum_v<Value>) {
    return std::to_string(static_cast<int>(value));
  } else if constexpr (std::is_same_v<Value, std::string>) {
    return "'" + value + "'";
  } else if constexpr (requires { value[0]; }) {
    return std::to_string(value[static_cast<size_t>(index)]);
  } else {
    return fmt::format("{}", value);
  }
}

template <class Table, class Row>
std::string line(const Trace& trace, const Table& table, const Row& row) {
  std::string text;
  const auto add = [&](const auto& column) {
    if (column.name != "detail")
      text += fmt::format("{}={} ", column.name, cell(trace, row.*column.member, column.index));
  };
  std::apply([&](const auto&... column) { (add(column), ...); }, table.columns);
  return text;
}

inline std::string detail(const Trace& trace, const HostEvent& event) {
  return event.detail < 0 ? ""
                          : line(trace, kOperatorTable, trace.operators[static_cast<size_t>(event.detail)]);
}

inline std::string detail(const Trace& trace, const DeviceEvent& event) {
  if (event.detail < 0) return "";
  const auto index = static_cast<size_t>(event.detail);
  if (event.kind == DeviceKind::kKernel) return line(trace, kLaunchTable, trace.launches[index]);
  return line(trace, kTransferTable, trace.transfers[index]);
}

/// By table; details stand with the events that they are of.
inline std::map<std::string, std::vector<std::string>> rows(const Trace& trace) {
  std::map<std::string, std::vector<std::string>> result;
  for_each_table(trace, [&](const auto& table, const auto& list) {
    if (table.name == "operators" || table.name == "launches" || table.name == "transfers") return;
    std::vector<std::string>& lines = result[std::string(table.name)];
    for (const auto& row : list) {
      lines.push_back(line(trace, table, row));
      if constexpr (requires { detail(trace, row); }) lines.back() += detail(trace, row);
    }
  });
  return result;
}

}  // namespace hone::trace
