// See dependency_table.hpp.
#include "report/dependency_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/table.hpp"

namespace hone::report {
namespace {

/// Longer names, which templates of kernels have, push their blame to the right.
constexpr size_t kNameWidth = 48;

}  // namespace

std::string nvprof_time(trace::Time time) {
  const auto in = [&](double unit, const char* name) {
    return fmt::format("{:.6f}{}", static_cast<double>(time) / unit, name);
  };
  if (time >= 1'000'000'000) return in(1e9, "s");
  if (time >= 1'000'000) return in(1e6, "ms");
  if (time >= 1'000) return in(1e3, "us");
  return fmt::format("{}ns", time);
}

std::string dependency_table(const analysis::CriticalPath& path) {
  size_t width = 0;
  for (const analysis::FunctionTime& row : path.functions) width = std::max(width, row.name.size());
  const Table table({{"Critical path(%)"},
                     {"Critical path"},
                     {"Waiting time"},
                     {"Name", std::min(width, kNameWidth), false},
                     {"Blame", 13}});
  std::string text = table.row({"Critical path(%)", "Critical path", "Waiting time", "Name", "Blame"}) + "\n";
  for (const analysis::FunctionTime& row : path.functions) {
    text += table.row({fmt::format("{:.2f}%", row.share * 100), nvprof_time(row.on_path),
                       nvprof_time(row.waiting), row.name, nvprof_time(row.blame)}) +
            "\n";
  }
  return text;
}

}  // namespace hone::report
