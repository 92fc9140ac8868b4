// See open.hpp.
#include "trace/open.hpp"

#include <array>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "trace/format/byte_source.hpp"
#include "trace/format/kineto_reader.hpp"
#include "trace/format/nsys_reader.hpp"
#include "trace/sqlite.hpp"
#include "trace/store.hpp"

namespace hone::trace {
namespace {

constexpr std::string_view kSqliteMagic{"SQLite format 3\0", 16};
constexpr std::string_view kByteOrderMark{"\xef\xbb\xbf"};

/// The first bytes of a file of any kind.
struct Beginning {
  std::string
      bytes;  ///< unpacked; enough to distinguish kinds of files, even if JSON begins with blank lines
  bool packed = false;
};

Beginning beginning_of(const std::filesystem::path& path) {
  ByteSource source(path);
  Beginning beginning{std::string(256, '\0'), source.packed()};
  beginning.bytes.resize(source.read(beginning.bytes));
  return beginning;
}

bool looks_like_json(std::string_view bytes) {
  if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (bytes[first] == '{' || bytes[first] == '[');
}

Trace open_database(const std::filesystem::path& path) {
  SqliteDatabase database = SqliteDatabase::open_read_only(path);
  if (is_store(database)) return read_store(database);
  if (is_nsys_export(database)) return read_nsys(database);
  // Both nvprof and Nsight Systems name tables after CUPTI's kinds of activity; only nvprof has StringTable.
  if (database.has_table("StringTable"))
    fail_bad_input("{}: a profile of nvprof, which is not read; record anew with `hone profile`",
                   path.string());
  fail_bad_input("{}: a database, but neither a trace of hone nor an export of Nsight Systems",
                 path.string());
}

struct KnownFile {
  std::string_view extension;
  std::string_view advice;
};

/// Known kinds of files that cannot be read, with advice.
constexpr std::array<KnownFile, 5> kKnownFiles{{
    {".nsys-rep", "a report of Nsight Systems; turn it into one with `nsys export --type sqlite` first"},
    {".qdrep", "a report of Nsight Systems; turn it into one with `nsys export --type sqlite` first"},
    {".qdstrm", "a raw recording of Nsight Systems; open it there, then `nsys export --type sqlite`"},
    {".ncu-rep", "a report of Nsight Compute, which holds metrics of kernels and no timeline"},
    {".pftrace", "a trace of Perfetto, which is not read"},
}};

}  // namespace

Trace open_trace(const std::filesystem::path& path) {
  const Beginning beginning = beginning_of(path);
  if (beginning.bytes.starts_with(kSqliteMagic)) return open_database(path);
  if (beginning.packed || looks_like_json(beginning.bytes)) return read_kineto(path);
  if (beginning.bytes.empty())
    fail_bad_input("{}: the file is empty, as that of a recording is until it ends", path.string());
  const std::string extension = path.extension().string();
  for (const KnownFile& known : kKnownFiles) {
    if (extension == known.extension) fail_bad_input("{}: no trace, but {}", path.string(), known.advice);
  }
  fail_bad_input(
      "{}: no trace: neither SQLite (hone, Nsight Systems) nor JSON (PyTorch's profiler), packed with gzip "
      "or not",
      path.string());
}

}  // namespace hone::trace
