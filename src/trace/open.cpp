// See open.hpp.
#include "trace/open.hpp"

#include <array>
#include <fstream>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "trace/format/kineto_reader.hpp"
#include "trace/format/nsys_reader.hpp"
#include "trace/sqlite.hpp"
#include "trace/store.hpp"

namespace hone::trace {
namespace {

constexpr std::string_view kSqliteMagic{"SQLite format 3\0", 16};
constexpr std::string_view kGzipMagic{"\x1f\x8b"};
constexpr std::string_view kByteOrderMark{"\xef\xbb\xbf"};

/// The bytes by which kinds of files differ; JSON may begin with blank lines.
std::string first_bytes(const std::filesystem::path& path) {
  if (!std::filesystem::is_regular_file(path)) fail_bad_input("{}: no such file", path.string());
  std::ifstream file(path, std::ios::binary);
  std::string bytes(256, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(file.gcount()));
  return bytes;
}

bool looks_like_json(std::string_view bytes) {
  if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (bytes[first] == '{' || bytes[first] == '[');
}

Trace open_database(const std::filesystem::path& path) {
  if (is_store(path)) return read_store(path);
  if (is_nsys_export(path)) return read_nsys(path);
  // nvprof and Nsight Systems both name tables after CUPTI's kinds of activity; nvprof alone has StringTable.
  if (SqliteDatabase::open_read_only(path).has_table("StringTable"))
    fail_bad_input("{}: a profile of nvprof, which is not read; record anew with `hone profile`",
                   path.string());
  fail_bad_input("{}: a database, but neither a trace of hone nor an export of Nsight Systems",
                 path.string());
}

struct KnownFile {
  std::string_view extension;
  std::string_view advice;
};

/// What people may try, though it cannot be read.
constexpr std::array<KnownFile, 5> kKnownFiles{{
    {".nsys-rep", "a report of Nsight Systems; turn it into one with `nsys export --type sqlite` first"},
    {".qdrep", "a report of Nsight Systems; turn it into one with `nsys export --type sqlite` first"},
    {".qdstrm", "a raw recording of Nsight Systems; open it there, then `nsys export --type sqlite`"},
    {".ncu-rep", "a report of Nsight Compute, which holds metrics of kernels and no timeline"},
    {".pftrace", "a trace of Perfetto, which is not read"},
}};

}  // namespace

Trace open_trace(const std::filesystem::path& path) {
  const std::string bytes = first_bytes(path);
  if (bytes.starts_with(kSqliteMagic)) return open_database(path);
  if (bytes.starts_with(kGzipMagic) || looks_like_json(bytes)) return read_kineto(path);
  const std::string extension = path.extension().string();
  for (const KnownFile& known : kKnownFiles) {
    if (extension == known.extension) fail_bad_input("{}: no trace, but {}", path.string(), known.advice);
  }
  fail_bad_input(
      "{}: no trace: neither SQLite (hone, Nsight Systems) nor JSON, packed or not (PyTorch's profiler)",
      path.string());
}

}  // namespace hone::trace
