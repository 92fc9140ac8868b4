// See store.hpp.
#include "trace/store.hpp"

#include <fmt/format.h>

#include <limits>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"
#include "base/pending_file.hpp"
#include "trace/sqlite.hpp"
#include "trace/store_schema.hpp"

namespace hone::trace {
namespace {

constexpr int64_t kVersion = 1;
/// "hone" in ASCII, in the database header.
constexpr int64_t kApplicationId = 0x686f6e65;

// Columns hold integers, reals or text; ids, enumerations and array elements are integers.

template <class T>
constexpr std::string_view sql_type() {
  if constexpr (std::is_floating_point_v<T>) return "REAL";
  if constexpr (std::is_same_v<T, std::string>) return "TEXT";
  return "INTEGER";
}

template <class T>
void bind(SqliteStatement& statement, int parameter, const T& value, int index) {
  if constexpr (std::is_floating_point_v<T>) {
    statement.bind(parameter, static_cast<double>(value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    statement.bind(parameter, std::string_view(value));
  } else if constexpr (requires { value[0]; }) {
    bind(statement, parameter, value[static_cast<size_t>(index)], 0);
  } else {
    statement.bind(parameter, static_cast<int64_t>(value));
  }
}

/// The largest value of an enumeration that a file may hold; later versions append values.
template <class T>
constexpr int64_t last_value() {
  if constexpr (std::is_same_v<T, HostKind>) return static_cast<int64_t>(HostKind::kThreadApi);
  if constexpr (std::is_same_v<T, DeviceKind>) return static_cast<int64_t>(DeviceKind::kSet);
  if constexpr (std::is_same_v<T, MemoryKind>) return static_cast<int64_t>(MemoryKind::kManaged);
  if constexpr (std::is_same_v<T, CopyDirection>) return static_cast<int64_t>(CopyDirection::kPeerToPeer);
  if constexpr (std::is_same_v<T, SyncKind>) return static_cast<int64_t>(SyncKind::kContextSynchronize);
  if constexpr (std::is_same_v<T, ThreadOperation>)
    return static_cast<int64_t>(ThreadOperation::kSemaphoreWait);
  if constexpr (std::is_same_v<T, TensorUse>) return static_cast<int64_t>(TensorUse::kYes);
  if constexpr (std::is_same_v<T, StreamKind>) return static_cast<int64_t>(StreamKind::kUnknown);
  if constexpr (std::is_same_v<T, Severity>) return static_cast<int64_t>(Severity::kLoss);
  return std::numeric_limits<int64_t>::max();
}

/// False if the value does not fit.
template <class T>
bool read_number(const SqliteStatement& statement, int column, T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    value = statement.real(column);
    return true;
  } else if constexpr (std::is_same_v<T, bool>) {
    value = statement.integer(column) != 0;
    return true;
  } else if constexpr (std::is_enum_v<T>) {
    const int64_t number = statement.integer(column);
    if (number < 0 || number > last_value<T>()) return false;
    value = static_cast<T>(number);
    return true;
  } else {
    const int64_t number = statement.integer(column);
    if (!std::in_range<T>(number)) return false;
    value = static_cast<T>(number);
    return true;
  }
}

/// False if the value does not fit or is of another type.
template <class T>
bool read(const SqliteStatement& statement, int column, T& value, int index) {
  if constexpr (std::is_same_v<T, std::string>) {
    value = statement.text(column);
    return true;
  } else if constexpr (requires { value[0]; }) {
    return read(statement, column, value[static_cast<size_t>(index)], 0);
  } else {
    return statement.is_number(column) && read_number(statement, column, value);
  }
}

template <class F, class... Columns>
void for_each_column(const std::tuple<Columns...>& columns, F&& f) {
  int position = 0;
  std::apply([&](const auto&... column) { (f(column, position++), ...); }, columns);
}

template <class Row, class Member>
constexpr std::string_view column_type(const Column<Row, Member>&) {
  return sql_type<Member>();
}

template <class Row, class... Members>
std::string create_sql(const Table<Row, Members...>& table) {
  std::string sql = fmt::format("CREATE TABLE {} (", table.name);
  for_each_column(table.columns, [&](const auto& column, int position) {
    sql += fmt::format(R"({}"{}" {} NOT NULL)", position == 0 ? "" : ", ", column.name, column_type(column));
  });
  return sql + ")";
}

template <class Row, class... Members>
void write_table(SqliteDatabase& database, const Table<Row, Members...>& table,
                 const std::vector<Row>& rows) {
  std::string sql = fmt::format("INSERT INTO {} VALUES (?", table.name);
  for (size_t i = 1; i < sizeof...(Members); ++i) sql += ", ?";
  SqliteStatement insert = database.prepare(sql + ")");
  for (const Row& row : rows) {
    for_each_column(table.columns, [&](const auto& column, int position) {
      bind(insert, position + 1, row.*column.member, column.index);
    });
    insert.step();
    insert.reset();
  }
}

void write_strings(SqliteDatabase& database, const Trace& trace) {
  SqliteStatement insert = database.prepare("INSERT INTO strings VALUES (?, ?)");
  for (StringId id = 0; id < trace.strings.size(); ++id) {
    insert.bind(1, static_cast<int64_t>(id));
    insert.bind(2, std::string_view(trace.strings[id]));
    insert.step();
    insert.reset();
  }
}

void write_pairs(SqliteDatabase& database, const Trace& trace) {
  SqliteStatement insert = database.prepare("INSERT INTO metadata VALUES (?, ?)");
  for (const auto& [key, value] : trace.metadata) {
    insert.bind(1, std::string_view(key));
    insert.bind(2, std::string_view(value));
    insert.step();
    insert.reset();
  }
  SqliteStatement units = database.prepare("INSERT INTO counter_units VALUES (?, ?)");
  for (const auto& [counter, unit] : trace.counter_units) {
    units.bind(1, static_cast<int64_t>(counter));
    units.bind(2, std::string_view(unit));
    units.step();
    units.reset();
  }
}

/// Views with names instead of ids, for users who query the file.
void create_views(SqliteDatabase& database) {
  database.execute(
      "CREATE VIEW kernels AS SELECT e.start, e.\"end\", s.value AS name, e.device, e.context, e.stream, "
      "e.correlation, e.graph_node, e.channel, l.* FROM device_events e JOIN strings s ON s.id = e.name "
      "LEFT JOIN launches l ON l.rowid = e.detail + 1 WHERE e.kind = 0");
  database.execute(
      "CREATE VIEW copies AS SELECT e.start, e.\"end\", s.value AS name, e.device, e.context, e.stream, "
      "e.correlation, t.* FROM device_events e JOIN strings s ON s.id = e.name "
      "LEFT JOIN transfers t ON t.rowid = e.detail + 1 WHERE e.kind <> 0");
  database.execute(
      "CREATE VIEW host AS SELECT e.start, e.\"end\", e.kind, s.value AS name, t.process, t.id AS thread, "
      "e.correlation FROM host_events e JOIN strings s ON s.id = e.name JOIN threads t ON t.rowid = e.thread "
      "+ 1");
  database.execute(
      "CREATE VIEW metrics AS SELECT k.process, k.launch, k.device, n.value AS kernel, r.value AS range, "
      "m.value AS metric, k.value, u.value AS unit FROM kernel_metrics k JOIN strings n ON n.id = k.kernel "
      "JOIN strings r ON r.id = k.range JOIN strings m ON m.id = k.metric JOIN strings u ON u.id = k.unit");
}

/// Executed before any row is written, so that the schema is at the begin of the file and survives if the end
/// is lost.
void create_tables(SqliteDatabase& database, const Trace& trace) {
  database.execute("CREATE TABLE strings (id INTEGER PRIMARY KEY, value TEXT NOT NULL)");
  database.execute("CREATE TABLE metadata (key TEXT PRIMARY KEY, value TEXT NOT NULL)");
  database.execute("CREATE TABLE counter_units (counter INTEGER PRIMARY KEY, unit TEXT NOT NULL)");
  for_each_table(trace, [&](const auto& table, const auto&) { database.execute(create_sql(table)); });
  create_views(database);
}

void write_all(SqliteDatabase& database, const Trace& trace) {
  // The file is new and is renamed when it is complete, so a journal would be useless; the code that renames
  // the file also syncs it.
  database.execute("PRAGMA journal_mode = OFF");
  database.execute("PRAGMA synchronous = OFF");
  database.execute(fmt::format("PRAGMA application_id = {}", kApplicationId));
  database.execute(fmt::format("PRAGMA user_version = {}", kVersion));
  database.execute("BEGIN");
  create_tables(database, trace);
  write_strings(database, trace);
  write_pairs(database, trace);
  for_each_table(trace, [&](const auto& table, const auto& rows) { write_table(database, table, rows); });
  database.execute("COMMIT");
}

int64_t pragma(SqliteDatabase& database, const char* name) {
  SqliteStatement query = database.prepare(fmt::format("PRAGMA {}", name));
  return query.step() ? query.integer(0) : 0;
}

/// Maps ids of the file to ids of the trace; a file of unknown origin may number its strings in any way.
using StringIds = std::unordered_map<int64_t, StringId>;

/// Rows that were read before a damaged page are kept.
template <class Work>
void saving_what_it_can(Trace& trace, const std::string& table, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    trace.doubt(Severity::kLoss, table, fmt::format("could not be read to the end ({})", error.what()), 0);
  }
}

StringIds read_strings(SqliteDatabase& database, Trace& trace) {
  StringIds ids;
  if (!database.has_table("strings")) return ids;
  SqliteStatement query = database.prepare("SELECT id, value FROM strings");
  saving_what_it_can(trace, "strings", [&] {
    while (query.step()) ids[query.integer(0)] = trace.strings.intern(query.text(1));
  });
  return ids;
}

/// Rows to which other rows refer by their position, which must therefore not change.
template <class Row>
constexpr bool kHasPlace =
    std::is_same_v<Row, Thread> || std::is_same_v<Row, OperatorDetail> || std::is_same_v<Row, KernelLaunch> ||
    std::is_same_v<Row, Transfer> || std::is_same_v<Row, ModelStep>;

template <class Row, class... Members>
void read_table(SqliteDatabase& database, const StringIds& strings, const Table<Row, Members...>& table,
                std::vector<Row>& rows, Trace& trace) {
  const std::string name(table.name);
  if (!database.has_table(name)) return;
  // Only columns that the file has: columns of later versions are ignored, and missing columns keep their
  // defaults.
  std::string sql;
  std::vector<int> places;
  int next = 0;
  for_each_column(table.columns, [&](const auto& column, int) {
    const bool present = database.has_column(name, column.name);
    places.push_back(present ? next++ : -1);
    if (present) sql += fmt::format(R"({}"{}")", sql.empty() ? "" : ", ", column.name);
  });
  if (sql.empty()) return;
  SqliteStatement query = database.prepare(fmt::format("SELECT {} FROM {} ORDER BY rowid", sql, table.name));
  int64_t refused = 0;
  const auto read_row = [&] {
    Row row;
    bool good = true;
    for_each_column(table.columns, [&](const auto& column, int position) {
      const int place = places[static_cast<size_t>(position)];
      if (place < 0) return;
      auto& value = row.*column.member;
      good = read(query, place, value, column.index) && good;
      if constexpr (std::is_same_v<std::remove_reference_t<decltype(value)>, StringId>) {
        const auto found = strings.find(value);
        value = found == strings.end() ? 0 : found->second;
      }
    });
    refused += good ? 0 : 1;
    if (good || kHasPlace<Row>) rows.push_back(good ? std::move(row) : Row{});
  };
  saving_what_it_can(trace, name, [&] {
    while (query.step()) read_row();
  });
  if (refused != 0)
    trace.doubt(Severity::kLoss, name, "rows held values out of range or of another type and were left out",
                refused);
}

void read_pairs(SqliteDatabase& database, const StringIds& strings, Trace& trace) {
  if (database.has_table("metadata")) {
    SqliteStatement query = database.prepare("SELECT key, value FROM metadata");
    saving_what_it_can(trace, "metadata", [&] {
      while (query.step()) trace.metadata[std::string(query.text(0))] = query.text(1);
    });
  }
  if (!database.has_table("counter_units")) return;
  SqliteStatement query = database.prepare("SELECT counter, unit FROM counter_units");
  saving_what_it_can(trace, "counter_units", [&] {
    while (query.step()) {
      const auto found = strings.find(query.integer(0));
      if (found != strings.end()) trace.counter_units[found->second] = query.text(1);
    }
  });
}

}  // namespace

void write_store(const Trace& trace, const std::filesystem::path& path) {
  base::PendingFile file(path, base::PendingFile::Name::kFromTheStart);
  {
    SqliteDatabase database = SqliteDatabase::create(file.path(), path.string());
    write_all(database, trace);
  }
  file.publish();
}

bool is_store(SqliteDatabase& database) { return pragma(database, "application_id") == kApplicationId; }

Trace read_store(const std::filesystem::path& path) {
  SqliteDatabase database = SqliteDatabase::open_read_only(path);
  return read_store(database);
}

Trace read_store(SqliteDatabase& database) {
  if (!is_store(database)) fail_bad_input("{}: no trace of hone", database.file());
  if (const int64_t version = pragma(database, "user_version"); version > kVersion)
    fail_bad_input("{}: a trace of version {}, this program reads up to {}", database.file(), version,
                   kVersion);
  if (!database.damage().empty() && !database.has_table("strings"))
    fail_bad_input("{}: {}, and none of its tables can be found", database.file(), database.damage());
  Trace trace;
  const StringIds strings = read_strings(database, trace);
  read_pairs(database, strings, trace);
  for_each_table(trace,
                 [&](const auto& table, auto& rows) { read_table(database, strings, table, rows, trace); });
  if (!database.damage().empty()) trace.doubt(Severity::kLoss, "file", database.damage(), 0);
  normalize(trace);
  return trace;
}

std::string store_markdown() {
  std::string text;
  Trace empty;
  for_each_table(empty, [&](const auto& table, const auto&) {
    text += fmt::format("### `{}`\n\n{}\n\n| column | type | |\n|---|---|---|\n", table.name, table.about);
    for_each_column(table.columns, [&](const auto& column, int) {
      text += fmt::format("| `{}` | {} | {} |\n", column.name, column_type(column), column.note);
    });
    text += "\n";
  });
  return text;
}

}  // namespace hone::trace
