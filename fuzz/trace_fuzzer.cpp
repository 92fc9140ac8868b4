// Any bytes opened as a trace (our store, an export of Nsight Systems, JSON) become one that can be written
// as Kineto's JSON and read back, or a bad-input error.
#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "base/error.hpp"
#include "input_file.hpp"
#include "trace/format/kineto_reader.hpp"
#include "trace/format/kineto_writer.hpp"
#include "trace/open.hpp"

namespace {

hone::trace::Trace open(const std::filesystem::path& path) {
  try {
    return hone::trace::open_trace(path);
  } catch (const hone::Error& error) {
    if (error.kind() != hone::ErrorKind::kBadInput) std::abort();
    return {};
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static InputFile file;
  const std::filesystem::path path = file.write(data, size);
  const hone::trace::Trace trace = open(path);
  for (const auto& written : hone::trace::write_kineto(trace, path.parent_path(), {path.filename(), 1})) {
    hone::trace::read_kineto(written);
    std::filesystem::remove(written);
  }
  return 0;
}
