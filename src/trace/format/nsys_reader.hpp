// Reads traces that Nsight Systems has exported to SQLite (`nsys export --type sqlite`). Its tables and
// columns come and go with versions and with the settings of the recording, so each is looked for before it
// is read; docs/TRACE.md says what becomes of which.
#pragma once

#include "trace/sqlite.hpp"
#include "trace/trace.hpp"

namespace hone::trace {

/// True if it is a database with tables of Nsight Systems.
bool is_nsys_export(SqliteDatabase& database);

/// A normalized trace. Where several processes were recorded, correlation and context ids of all but the
/// first carry the process's number in their upper bits, since each process counts from 1. Missing and
/// unreadable parts are reported in `doubts`. Bad input when the file is no such export.
Trace read_nsys(SqliteDatabase& database);

}  // namespace hone::trace
