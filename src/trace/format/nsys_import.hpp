// The common parts of an import from Nsight Systems: strings, threads, processes, missing columns.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/sqlite.hpp"
#include "trace/trace.hpp"

namespace hone::trace {

/// The rows of a table; columns are numbered in the order in which they were requested, and missing columns
/// are NULL.
class NsysRows {
 public:
  /// Thrown for a text in a column of numbers.
  struct WrongType {};
  NsysRows(SqliteStatement statement) : statement_(std::move(statement)) {}
  bool step() { return statement_.step(); }
  /// 0 for NULL.
  int64_t integer(int column) const { return number_at(column).integer(column); }
  /// 0 for NULL and for numbers that do not fit.
  int32_t small(int column) const;
  /// kNone for NULL.
  int64_t id(int column) const { return is_null(column) ? kNone : integer(column); }
  double real(int column) const { return number_at(column).real(column); }
  std::string_view text(int column) const { return statement_.text(column); }
  bool is_null(int column) const { return statement_.is_null(column); }

 private:
  const SqliteStatement& number_at(int column) const {
    if (!statement_.is_number(column)) throw WrongType();
    return statement_;
  }

  SqliteStatement statement_;
};

class NsysImport {
 public:
  NsysImport(SqliteDatabase& database, Trace& trace) : database_(database), trace_(trace) {}

  SqliteDatabase& database() { return database_; }
  Trace& trace() { return trace_; }

  /// Calls use(rows) for each row of a table, if the table exists, with these columns. If one of the first
  /// `required` columns is missing, the table is left out and a doubt is added; other missing columns are
  /// noted. Rows with values of another type are left out; these rows and unreadable parts are reported as
  /// losses.
  template <class Use>
  void read(const char* table, const std::vector<const char*>& columns, size_t required, Use&& use) {
    if (!database_.has_table(table)) return;
    guarded(table, [&] {
      const std::string sql = select(table, columns, required);
      if (sql.empty()) return;
      NsysRows rows(database_.prepare(sql));
      int64_t refused = 0;
      while (rows.step()) {
        try {
          use(rows);
        } catch (const NsysRows::WrongType&) {
          ++refused;
        }
      }
      note_refused(table, refused);
    });
  }

  /// The text of a row of StringIds; 0 if there is none.
  StringId string(int64_t id);
  /// The text of a row of an enumeration, in lower case; empty if the file does not have it.
  std::string enumerator(const char* table, int64_t id);
  /// The thread with this `globalTid`.
  int32_t thread(int64_t global_id);
  /// Converts an id within the process of a `globalPid` or `globalTid` to an id of the trace. kNone stays
  /// kNone.
  int64_t of_process(int64_t id, int64_t global_id);
  static int64_t process(int64_t global_id) { return (global_id >> 24) & 0xffffff; }

 private:
  void guarded(const char* table, const std::function<void()>& work);
  void note_refused(const char* table, int64_t count);
  std::string select(const char* table, const std::vector<const char*>& columns, size_t required);

  SqliteDatabase& database_;
  Trace& trace_;
  bool strings_read_ = false;
  std::unordered_map<int64_t, std::string> texts_;
  std::unordered_map<int64_t, StringId> strings_;
  std::map<std::string, std::unordered_map<int64_t, std::string>> enumerators_;
  std::unordered_map<int64_t, int32_t> threads_;
  std::map<int64_t, int64_t> processes_;  // in order of appearance
};

// The readers, each for some of the tables.
void read_nsys_target(NsysImport& nsys);    ///< devices, contexts, streams, clock, diagnostics
void read_nsys_activity(NsysImport& nsys);  ///< work of GPUs, waits and events
void read_nsys_host(NsysImport& nsys);      ///< API calls, overhead
void read_nsys_nvtx(NsysImport& nsys);      ///< ranges
void read_nsys_metrics(NsysImport& nsys);   ///< counters over time, allocations

}  // namespace hone::trace
