// See sqlite.hpp.
#include "trace/sqlite.hpp"

#include <sqlite3.h>

#include <utility>

#include "base/error.hpp"
#include "trace/sqlite_file.hpp"

namespace hone::trace {
namespace {

/// The longest text, in bytes: a damaged file may claim a length beyond the memory.
constexpr int kLongestValue = 64 << 20;

/// A row takes at least 6 bytes. Reading it takes some steps for each of its columns, and most columns take a
/// byte. Steps for anything except rows, such as finding tables and columns, are covered by the constants.
constexpr int kStepsAtOnce = 1000;
constexpr int64_t kStepsPerByte = 8;
constexpr int64_t kStepsAlways = 2'000'000;
constexpr int64_t kTextPerByte = 4;
constexpr int64_t kTextAlways = 1 << 20;

/// SQLite calls this every kStepsAtOnce steps; a result other than 0 ends the statement.
int count_steps(void* budget) { return --static_cast<SqliteBudget*>(budget)->steps < 0 ? 1 : 0; }

/// An error in a file that is read is bad input; such a file may also request any amount of memory, or a
/// journal to be written. A disk error, or any failure to write our own file, is an environment error.
[[noreturn]] void fail(sqlite3* database, const std::string& file) {
  const int code = sqlite3_errcode(database) & 0xff;
  const std::string message = sqlite3_errmsg(database);
  const bool reading = sqlite3_db_readonly(database, "main") == 1;
  if (reading && code == SQLITE_NOMEM) fail_bad_input("{}: damaged, as it asks for too much memory", file);
  if (code == SQLITE_INTERRUPT)
    fail_bad_input("{}: damaged, as it holds more rows than its size has room for", file);
  if (code == SQLITE_FULL || code == SQLITE_IOERR || !reading) fail_environment("{}: {}", file, message);
  fail_bad_input("{}: {}", file, message);
}

}  // namespace

SqliteStatement::SqliteStatement(sqlite3* database, sqlite3_stmt* statement, SqliteBudget* budget,
                                 std::string file)
    : database_(database), statement_(statement), budget_(budget), file_(std::move(file)) {}

void SqliteStatement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

bool SqliteStatement::step() {
  switch (sqlite3_step(statement_.get())) {
    case SQLITE_ROW: return true;
    case SQLITE_DONE: return false;
    default: fail(database_, file_);
  }
}

void SqliteStatement::reset() { sqlite3_reset(statement_.get()); }

void SqliteStatement::bind(int parameter, int64_t value) {
  if (sqlite3_bind_int64(statement_.get(), parameter, value) != SQLITE_OK) fail(database_, file_);
}

void SqliteStatement::bind(int parameter, double value) {
  if (sqlite3_bind_double(statement_.get(), parameter, value) != SQLITE_OK) fail(database_, file_);
}

void SqliteStatement::bind(int parameter, std::string_view value) {
  const int code = sqlite3_bind_text64(statement_.get(), parameter, value.data(), value.size(),
                                       SQLITE_TRANSIENT, SQLITE_UTF8);
  if (code != SQLITE_OK) fail(database_, file_);
}

int64_t SqliteStatement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }

double SqliteStatement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string_view SqliteStatement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (bytes == nullptr) return {};
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (budget_ != nullptr && (budget_->text_bytes -= size) < 0)
    fail_bad_input("{}: damaged, as it holds more text than its size has room for", file_);
  return {bytes, static_cast<size_t>(size)};
}

bool SqliteStatement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

bool SqliteStatement::is_number(int column) const {
  const int type = sqlite3_column_type(statement_.get(), column);
  return type == SQLITE_INTEGER || type == SQLITE_FLOAT || type == SQLITE_NULL;
}

SqliteDatabase::SqliteDatabase(const std::filesystem::path& path, std::string file, int flags)
    : file_(std::move(file)) {
  sqlite3* database = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &database, flags, nullptr);
  database_.reset(database);
  if (code != SQLITE_OK) {
    const std::string message = database == nullptr ? "out of memory" : sqlite3_errmsg(database);
    if ((flags & SQLITE_OPEN_CREATE) != 0) fail_environment("{}: {}", file_, message);
    fail_bad_input("{}: {}", file_, message);
  }
  // A file of unknown origin must not run anything: no functions of extensions in its schema, no virtual
  // tables, checked cells.
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_drop_modules(database, nullptr);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kLongestValue);
}

void SqliteDatabase::Close::operator()(sqlite3* database) const { sqlite3_close(database); }

SqliteDatabase SqliteDatabase::create(const std::filesystem::path& path, std::string named) {
  return {path, std::move(named), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE};
}

SqliteDatabase SqliteDatabase::create(const std::filesystem::path& path) {
  return create(path, path.string());
}

SqliteDatabase SqliteDatabase::open_read_only(const std::filesystem::path& path) {
  const SqliteFile file(path);
  SqliteDatabase database(file.path(), path.string(), SQLITE_OPEN_READONLY);
  database.damage_ = file.damage();
  database.limit_reading(file.bytes());
  database.read_schema();
  return database;
}

void SqliteDatabase::limit_reading(uint64_t bytes) {
  const auto size = static_cast<int64_t>(bytes);
  budget_ = std::make_unique<SqliteBudget>();
  budget_->steps = (kStepsAlways + size * kStepsPerByte) / kStepsAtOnce;
  budget_->text_bytes = kTextAlways + size * kTextPerByte;
  sqlite3_progress_handler(database_.get(), kStepsAtOnce, count_steps, budget_.get());
}

void SqliteDatabase::read_schema() {
  constexpr const char* kAnything = "SELECT 1 FROM sqlite_master";
  if (sqlite3_exec(database_.get(), kAnything, nullptr, nullptr, nullptr) == SQLITE_OK) return;
  if ((sqlite3_errcode(database_.get()) & 0xff) != SQLITE_CORRUPT) fail(database_.get(), file_);
  if (damage_.empty())
    damage_ =
        "is damaged (" + std::string(sqlite3_errmsg(database_.get())) + "); what cannot be read is missing";
  read_damaged_schema();
}

/// SQLite refuses a file that is shorter than its header says, or whose schema cannot be read to the end,
/// unless the schema is made writable. This connection is read-only, so that setting allows nothing else.
void SqliteDatabase::read_damaged_schema() {
  sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
  execute("PRAGMA writable_schema = ON");
  // The first statement fails at the damage in the schema; later statements know the tables before that
  // place.
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database_.get(), "SELECT 1 FROM sqlite_master", -1, &statement, nullptr);
  sqlite3_finalize(statement);
}

void SqliteDatabase::execute(const std::string& sql) {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    fail(database_.get(), file_);
}

SqliteStatement SqliteDatabase::prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
    fail(database_.get(), file_);
  return {database_.get(), statement, budget_.get(), file_};
}

bool SqliteDatabase::has_table(const std::string& name) {
  // Asks SQLite, not the list of tables in the file, which can declare a view as a table.
  const bool is_table = sqlite3_table_column_metadata(database_.get(), "main", name.c_str(), nullptr, nullptr,
                                                      nullptr, nullptr, nullptr, nullptr) == SQLITE_OK;
  if (is_table && !computes_columns(name)) return true;
  if (!is_table && !is_named_in_schema(name)) return false;
  fail_bad_input("{}: {} is no table of rows, but computes them, which is not read", file_, name);
}

bool SqliteDatabase::computes_columns(const std::string& table) {
  SqliteStatement query = prepare("SELECT 1 FROM pragma_table_xinfo(?) WHERE hidden <> 0");
  query.bind(1, std::string_view(table));
  return query.step();
}

bool SqliteDatabase::is_named_in_schema(const std::string& name) try {
  SqliteStatement query = prepare("SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND name = ?");
  query.bind(1, std::string_view(name));
  return query.step();
} catch (const Error&) {  // in a damaged file, beyond the readable part
  return false;
}

bool SqliteDatabase::has_column(const std::string& table, std::string_view name) {
  SqliteStatement query = prepare("SELECT 1 FROM pragma_table_info(?) WHERE name = ?");
  query.bind(1, std::string_view(table));
  query.bind(2, name);
  return query.step();
}

}  // namespace hone::trace
