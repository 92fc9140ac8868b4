// Any bytes given to the reader of PyTorch's traces become a trace whose times are valid, or a bad-input
// error.
#include <cstdint>
#include <cstdlib>

#include "base/error.hpp"
#include "input_file.hpp"
#include "trace/format/kineto_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static InputFile file;
  try {
    const hone::trace::Trace trace = hone::trace::read_kineto(file.write(data, size));
    for (const auto& event : trace.host_events) {
      if (event.end < event.start) std::abort();
    }
    for (const auto& event : trace.device_events) {
      if (event.end < event.start) std::abort();
    }
  } catch (const hone::Error& error) {
    if (error.kind() != hone::ErrorKind::kBadInput) std::abort();
  }
  return 0;
}
