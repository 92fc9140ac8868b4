// Any bytes given to the safetensors reader become tensors or a bad-input error, nothing else.
#include <cstdint>
#include <cstdlib>

#include "base/error.hpp"
#include "import/safetensors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    hone::importer::read_safetensors(std::as_bytes(std::span(data, size)));
  } catch (const hone::Error& error) {
    if (error.kind() != hone::ErrorKind::kBadInput) std::abort();
  }
  return 0;
}
