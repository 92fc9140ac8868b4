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

/// The remaining budget for reading a file of unknown origin. Pages of a forged file can refer to one another
/// in circles and so hold an endless number of rows.
struct SqliteBudget {
  int64_t steps;       ///< of SQLite's virtual machine, in thousands
  int64_t text_bytes;  ///< of all texts together
};

class SqliteStatement {
 public:
  /// Goes to the next row; returns false at the end. Throws bad input if reading takes more steps or text
  /// than the size of the file allows.
  bool step();
  /// Returns to the start, so that the statement can be bound and stepped again.
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
  /// True if the value is a number or NULL: text would be read as 0.
  bool is_number(int column) const;

 private:
  friend class SqliteDatabase;
  SqliteStatement(sqlite3* database, sqlite3_stmt* statement, SqliteBudget* budget, std::string file);
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  SqliteBudget* budget_;  // null: no limits
  std::string file_;
};

class SqliteDatabase {
 public:
  /// Creates a database in a file that is empty or does not exist. Throws an environment error about the file
  /// `named` if it cannot be written.
  static SqliteDatabase create(const std::filesystem::path& path, std::string named);
  static SqliteDatabase create(const std::filesystem::path& path);
  /// Opens a file that may be compressed with gzip, and never writes to it. If the file is incomplete or its
  /// list of tables is damaged, the rest can be read table by table, and `damage()` describes the damage.
  /// Throws bad input if the file does not exist or is no database.
  static SqliteDatabase open_read_only(const std::filesystem::path& path);

  void execute(const std::string& sql);
  SqliteStatement prepare(const std::string& sql);
  /// Throws bad input if the name is not that of a table but of an object whose rows are computed, such as a
  /// view: reading it could take any time and memory.
  bool has_table(const std::string& name);
  /// True if the table has a column of that name.
  bool has_column(const std::string& table, std::string_view name);
  /// The name of the file as the user gave it.
  const std::string& file() const { return file_; }
  /// The damage of the file, as the text of a doubt; empty if none is known.
  const std::string& damage() const { return damage_; }

 private:
  SqliteDatabase(const std::filesystem::path& path, std::string file, int flags);
  void limit_reading(uint64_t bytes);
  void read_schema();
  void read_damaged_schema();
  bool computes_columns(const std::string& table);
  bool is_named_in_schema(const std::string& name);

  struct Close {
    void operator()(sqlite3* database) const;
  };
  std::unique_ptr<SqliteBudget> budget_;  // outlives the database, which refers to it
  std::unique_ptr<sqlite3, Close> database_;
  std::string file_;
  std::string damage_;
};

}  // namespace hone::trace
