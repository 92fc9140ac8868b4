// Any bytes given to the importer of darknet networks, a cfg file and, after a NUL, a weights file, become a
// model or a bad-input error, nothing else.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "base/error.hpp"
#include "import/darknet/darknet.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const uint8_t* const end = std::find(data, data + size, uint8_t{0});
  const std::string_view cfg(reinterpret_cast<const char*>(data), static_cast<size_t>(end - data));
  // Without weights they would come from a seed, up to the number that the limit of memory allows.
  const uint8_t* const weights = end == data + size ? end : end + 1;
  try {
    hone::importer::import_darknet("fuzzed", cfg, std::as_bytes(std::span(weights, data + size)),
                                   {.outputs = {"all"}});
  } catch (const hone::Error& error) {
    if (error.kind() != hone::ErrorKind::kBadInput) std::abort();
  }
  return 0;
}
