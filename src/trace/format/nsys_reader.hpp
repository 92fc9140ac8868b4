// Reads traces that Nsight Systems has exported to SQLite (`nsys export --type sqlite`). The tables and
// columns depend on the version and on the settings of the recording, so each is looked for before it is
// read; docs/TRACE.md describes how each table is converted.
#pragma once

#include "trace/sqlite.hpp"
#include "trace/trace.hpp"

namespace hone::trace {

/// True if it is a database with tables of Nsight Systems.
bool is_nsys_export(SqliteDatabase& database);

/// A normalized trace. If several processes were recorded, the correlation and context ids of all but the
/// first contain the number of the process in their upper bits, since each process counts from 1. Missing and
/// unreadable parts are reported in `doubts`. Throws bad input if the file is no such export.
Trace read_nsys(SqliteDatabase& database);

}  // namespace hone::trace
