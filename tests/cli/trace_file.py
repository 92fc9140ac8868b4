"""Traces for tests of commands, written with sqlite3 as docs/TRACE.md describes the tables. Columns that a row
does not name are left out of the table, and take their defaults when it is read.
"""
import sqlite3

APPLICATION_ID, VERSION = 0x686f6e65, 1
OPERATOR, RANGE, STEP, RUNTIME_API = 0, 1, 2, 4
KERNEL, COPY, SET = 0, 1, 2
HOST_TO_DEVICE = 1
PAGEABLE, DEVICE = 1, 3


class TraceFile:
    def __init__(self):
        self.strings = {"": 0}
        self.tables = {"threads": [{"process": 1, "id": 1, "name": 0}]}

    def text(self, value):
        return self.strings.setdefault(value, len(self.strings))

    def add(self, table, **row):
        """Returns the row's index."""
        row = {key: self.text(value) if key == "name" and isinstance(value, str) else value for key, value in row.items()}
        rows = self.tables.setdefault(table, [])
        rows.append(row)
        return len(rows) - 1

    def host(self, kind, name, start, end, correlation=-1):
        self.add("host_events", kind=kind, name=name, start=start, end=end, thread=0, correlation=correlation,
                 external_id=-1, detail=-1)

    def device(self, kind, name, start, end, correlation=-1, detail=-1):
        self.add("device_events", kind=kind, name=name, start=start, end=end, device=0, stream=7,
                 correlation=correlation, detail=detail, graph=-1, graph_node=-1)

    def write(self, path):
        database = sqlite3.connect(path)
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        database.execute(f"PRAGMA user_version = {VERSION}")
        self.tables["strings"] = [{"id": number, "value": text} for text, number in self.strings.items()]
        for table, rows in self.tables.items():
            columns = list(rows[0])
            quoted = ", ".join(f'"{column}"' for column in columns)
            database.execute(f"CREATE TABLE {table} ({quoted})")
            marks = ", ".join("?" * len(columns))
            database.executemany(f"INSERT INTO {table} ({quoted}) VALUES ({marks})",
                                 [[row[column] for column in columns] for row in rows])
        database.commit()
        database.close()
        return path


def training_steps(steps=4):
    """Steps of 10 ms: a pageable copy of 2 ms that the host waits for, then a kernel of 6 ms."""
    trace = TraceFile()
    trace.add("devices", id=0, name="NVIDIA H200", memory_bytes=150_000_000_000, compute_major=9, compute_minor=0,
              multiprocessors=132)
    ms = 1_000_000
    for step in range(steps):
        start = (10 * step + 5) * ms
        trace.host(STEP, f"ProfilerStep#{step}", start, start + 10 * ms)
        trace.host(OPERATOR, "aten::to", start, start + 3 * ms)
        trace.host(RUNTIME_API, "cudaMemcpyAsync", start, start + 3 * ms, correlation=2 * step + 1)
        transfer = trace.add("transfers", bytes=20_000_000, direction=HOST_TO_DEVICE, source=PAGEABLE,
                             destination=DEVICE, asynchronous=1)
        trace.device(COPY, "Memcpy HtoD", start + ms, start + 3 * ms, 2 * step + 1, transfer)
        trace.host(OPERATOR, "aten::mm", start + 3 * ms, start + 4 * ms)
        trace.host(RUNTIME_API, "cudaLaunchKernel", start + 3 * ms, start + 3 * ms + 5000, correlation=2 * step + 2)
        trace.device(KERNEL, "void lib::sgemm_kernel<float, 128>(float const*, float*, int)", start + 4 * ms,
                     start + 10 * ms, 2 * step + 2)
    return trace
