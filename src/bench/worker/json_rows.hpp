// Parses tables of integers in answers of workers.
#pragma once

#include <array>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "bench/worker/protocol.hpp"

namespace hone::bench {

/// Rows with this many integers each; empty if the member is missing and `optional`. Bad input names the
/// member.
template <size_t kColumns>
std::vector<std::array<int64_t, kColumns>> rows(const Json& json, const char* name, bool optional = false) {
  if (optional && !json.contains(name)) return {};
  const Json table = member<Json>(json, name);
  std::vector<std::array<int64_t, kColumns>> result;
  if (!table.is_array()) fail_bad_input("the field '{}' has the wrong type", name);
  result.reserve(table.size());
  for (const Json& from : table) {
    if (!from.is_array() || from.size() != kColumns)
      fail_bad_input("the field '{}' holds a row that is no list of {} numbers", name, kColumns);
    std::array<int64_t, kColumns>& row = result.emplace_back();
    for (size_t i = 0; i < kColumns; ++i) {
      if (!from[i].is_number_integer())
        fail_bad_input("the field '{}' holds a number that is no integer", name);
      row[i] = from[i].get<int64_t>();
    }
  }
  return result;
}

}  // namespace hone::bench
