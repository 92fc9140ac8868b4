// See nsys_import.hpp.
#include "trace/format/nsys_import.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "trace/format/name_table.hpp"

namespace hone::trace {
namespace {

/// The process number is shifted above the ids of one process.
constexpr int kProcessShift = 40;

}  // namespace

int32_t NsysRows::small(int column) const {
  const int64_t value = integer(column);
  return std::in_range<int32_t>(value) ? static_cast<int32_t>(value) : 0;
}

void NsysImport::guarded(const char* table, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {  // a damaged page: rows that were read before it are kept
    trace_.doubt(Severity::kLoss, table, fmt::format("could not be read to the end ({})", error.what()), 0);
  }
}

void NsysImport::note_refused(const char* table, int64_t count) {
  if (count != 0)
    trace_.doubt(Severity::kLoss, table, "rows held values of another type and were left out", count);
}

std::string NsysImport::select(const char* table, const std::vector<const char*>& columns, size_t required) {
  std::string list;
  std::string missing;
  size_t missing_required = 0;
  for (size_t i = 0; i < columns.size(); ++i) {
    const bool there = database_.has_column(table, columns[i]);
    list += fmt::format("{}{}", i == 0 ? "" : ", ", there ? fmt::format("\"{}\"", columns[i]) : "NULL");
    if (there) continue;
    missing += fmt::format("{}{}", missing.empty() ? "" : ", ", columns[i]);
    missing_required += i < required ? 1 : 0;
  }
  if (missing_required != 0) {
    trace_.doubt(Severity::kLoss, table, "could not be read, as it lacks columns: " + missing, 0);
    return "";
  }
  if (!missing.empty())
    trace_.doubt(Severity::kNote, table, "this version of Nsight Systems does not record: " + missing, 0);
  return fmt::format("SELECT {} FROM {}", list, table);
}

StringId NsysImport::string(int64_t id) {
  if (!strings_read_) {
    strings_read_ = true;
    read("StringIds", {"id", "value"}, 2,
         [this](const NsysRows& rows) { texts_[rows.integer(0)] = rows.text(1); });
  }
  const auto [place, added] = strings_.emplace(id, 0);
  if (!added) return place->second;
  const auto text = texts_.find(id);
  if (text != texts_.end()) place->second = trace_.strings.intern(text->second);
  return place->second;
}

std::string NsysImport::enumerator(const char* table, int64_t id) {
  const auto [place, added] = enumerators_.try_emplace(table);
  auto& names = place->second;
  if (added) {
    read(table, {"id", "name"}, 2, [&names](const NsysRows& rows) {
      std::string& name = names[rows.integer(0)];
      for (const char c : rows.text(1)) name += lower(c);
    });
  }
  const auto found = names.find(id);
  return found == names.end() ? "" : found->second;
}

int32_t NsysImport::thread(int64_t global_id) {
  const auto [place, added] =
      threads_.emplace(global_id & 0xffffffffffff, static_cast<int32_t>(trace_.threads.size()));
  if (added) trace_.threads.push_back({process(global_id), global_id & 0xffffff, 0});
  return place->second;
}

int64_t NsysImport::of_process(int64_t id, int64_t global_id) {
  if (id < 0) return kNone;
  const auto index =
      processes_.emplace(process(global_id), static_cast<int64_t>(processes_.size())).first->second;
  return id | (index << kProcessShift);
}

}  // namespace hone::trace
