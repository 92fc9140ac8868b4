// A thin wrapper of SQLite: a database and prepared statements that close themselves and throw hone::Error.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

struct sqlite3;
struct sqlite3_stmt;

namespace hone::trace {

class SqliteStatement {
 public:
  /// One row further; false at the end.
  bool step();
  /// Back to the start, so that the statement can be bound and stepped again.
  void reset();
  /// Parameters are numbered from 1.
  void bind(int parameter, int64_t value);
  void bind(int parameter, double value);
  void bind(int parameter, std::string_view value);
  /// Columns are numbered from 0. A value of another type is converted as SQLite does (NULL to 0 or "").
  int64_t integer(int column) const;
  double real(int column) const;
  std::string_view text(int column) const;
  bool is_null(int column) const;

 private:
  friend class SqliteDatabase;
  SqliteStatement(sqlite3* database, sqlite3_stmt* statement, std::string file);
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  std::string file_;
};

class SqliteDatabase {
 public:
  /// A new database in a file that is empty or not there. Environment error when it cannot be written.
  static SqliteDatabase create(const std::filesystem::path& path);
  /// Bad input when the file is not there or no database. Nothing is written to it.
  static SqliteDatabase open_read_only(const std::filesystem::path& path);

  void execute(const std::string& sql);
  SqliteStatement prepare(const std::string& sql);
  bool has_table(std::string_view name);
  /// Whether the table has a column of that name.
  bool has_column(const std::string& table, std::string_view name);

 private:
  SqliteDatabase(const std::filesystem::path& path, int flags);
  struct Close {
    void operator()(sqlite3* database) const;
  };
  std::unique_ptr<sqlite3, Close> database_;
  std::string file_;
};

}  // namespace hone::trace
