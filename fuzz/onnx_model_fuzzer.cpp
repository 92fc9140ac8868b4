// Any bytes given to the ONNX importer become a verified graph or a bad-input error, nothing else.
#include <cstdint>
#include <cstdlib>

#include "base/error.hpp"
#include "import/onnx/import.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    hone::importer::import_onnx(std::as_bytes(std::span(data, size)));
  } catch (const hone::Error& error) {
    if (error.kind() != hone::ErrorKind::kBadInput) std::abort();
  }
  return 0;
}
