// See sqlite.hpp.
#include "trace/sqlite.hpp"

#include <sqlite3.h>

#include <utility>

#include "base/error.hpp"

namespace hone::trace {
namespace {

/// Of a text, bytes: a damaged file may claim more than there is memory.
constexpr int kLongestValue = 64 << 20;

/// What is wrong with the file is bad input; what is wrong with the disk is the environment. A damaged file
/// that is read may ask for any amount of memory, or for a journal to be written.
[[noreturn]] void fail(sqlite3* database, const std::string& file) {
  const int code = sqlite3_errcode(database) & 0xff;
  const std::string message = sqlite3_errmsg(database);
  const bool reading = sqlite3_db_readonly(database, "main") == 1;
  if (reading && code == SQLITE_NOMEM) fail_bad_input("{}: damaged, as it asks for too much memory", file);
  const bool writing_failed = code == SQLITE_READONLY || code == SQLITE_NOMEM;
  if (code == SQLITE_FULL || code == SQLITE_IOERR || (writing_failed && !reading))
    fail_environment("{}: {}", file, message);
  fail_bad_input("{}: {}", file, message);
}

}  // namespace

SqliteStatement::SqliteStatement(sqlite3* database, sqlite3_stmt* statement, std::string file)
    : database_(database), statement_(statement), file_(std::move(file)) {}

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
  return {bytes, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

bool SqliteStatement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

SqliteDatabase::SqliteDatabase(const std::filesystem::path& path, int flags) : file_(path.string()) {
  sqlite3* database = nullptr;
  const int code = sqlite3_open_v2(file_.c_str(), &database, flags, nullptr);
  database_.reset(database);
  if (code != SQLITE_OK) {
    const std::string message = database == nullptr ? "out of memory" : sqlite3_errmsg(database);
    if ((flags & SQLITE_OPEN_CREATE) != 0) fail_environment("{}: {}", file_, message);
    fail_bad_input("{}: {}", file_, message);
  }
  // A file of unknown origin must not run anything: no functions of extensions in its schema, checked cells.
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kLongestValue);
}

void SqliteDatabase::Close::operator()(sqlite3* database) const { sqlite3_close(database); }

SqliteDatabase SqliteDatabase::create(const std::filesystem::path& path) {
  return {path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE};
}

SqliteDatabase SqliteDatabase::open_read_only(const std::filesystem::path& path) {
  if (!std::filesystem::is_regular_file(path)) fail_bad_input("{}: no such file", path.string());
  return {path, SQLITE_OPEN_READONLY};
}

void SqliteDatabase::execute(const std::string& sql) {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    fail(database_.get(), file_);
}

SqliteStatement SqliteDatabase::prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
    fail(database_.get(), file_);
  return {database_.get(), statement, file_};
}

bool SqliteDatabase::has_table(std::string_view name) {
  SqliteStatement query = prepare("SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND name = ?");
  query.bind(1, name);
  return query.step();
}

bool SqliteDatabase::has_column(const std::string& table, std::string_view name) {
  SqliteStatement query = prepare("SELECT 1 FROM pragma_table_info(?) WHERE name = ?");
  query.bind(1, std::string_view(table));
  query.bind(2, name);
  return query.step();
}

}  // namespace hone::trace
