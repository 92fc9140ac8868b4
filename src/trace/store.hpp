// The trace on disk: one SQLite file, which any SQL tool can query. docs/TRACE.md lists its tables.
#pragma once

#include <filesystem>

#include "trace/sqlite.hpp"
#include "trace/trace.hpp"

namespace hone::trace {

/// The file is written under a temporary name and renamed, so a reader never sees an incomplete file. Throws
/// an environment error if it cannot be written.
void write_store(const Trace& trace, const std::filesystem::path& path);

/// True if the database has the tables of the store.
bool is_store(SqliteDatabase& database);

/// A normalized trace. Throws bad input if the file is not a store, or is one of a later version. Tables and
/// columns that a file of an earlier version lacks keep their defaults. Rows with values out of range or of
/// another type are dropped and counted, as are the missing parts of a damaged file.
Trace read_store(SqliteDatabase& database);
Trace read_store(const std::filesystem::path& path);

/// The tables and columns of the store, as docs/TRACE.md shows them.
std::string store_markdown();

}  // namespace hone::trace
