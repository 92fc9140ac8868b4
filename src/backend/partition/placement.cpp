// See placement.hpp.
#include "backend/partition/placement.hpp"

#include "tensor/place.hpp"

namespace hone::backend::partition {

std::string device_of(const Backend& backend, std::string_view device) {
  return std::string(backend.binds() ? device : "cpu");
}

Handover handover_of(const Backend& backend, std::string_view device) {
  if (tensor::parse_place(device).kind == tensor::PlaceKind::kCpu) return backend.handover(device);
  if (backend.binds()) return {};
  Handover handover = backend.handover("cpu");
  ++handover.input_copies;
  ++handover.output_copies;
  ++handover.synchronisations;
  return handover;
}

}  // namespace hone::backend::partition
