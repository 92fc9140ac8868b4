// The trace on disk: one SQLite file, which any tool that speaks SQL can query. docs/TRACE.md lists its
// tables.
#pragma once

#include <filesystem>

#include "trace/sqlite.hpp"
#include "trace/trace.hpp"

namespace hone::trace {

/// Written under a temporary name and renamed, so a reader sees a whole file or none. Environment error when
/// it cannot be.
void write_store(const Trace& trace, const std::filesystem::path& path);

/// True if it is a database with our tables.
bool is_store(SqliteDatabase& database);

/// A normalized trace. Bad input when the file is none of ours or of a later version. Tables and columns that
/// a file of an earlier version lacks are left at their defaults; rows with values out of range or of another
/// type are dropped and counted, as is what a damaged file lacks.
Trace read_store(SqliteDatabase& database);
Trace read_store(const std::filesystem::path& path);

/// The tables and columns of the store, as docs/TRACE.md shows them.
std::string store_markdown();

}  // namespace hone::trace
