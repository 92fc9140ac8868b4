// Defaults of the interface, which backends may override.
#include "backend/backend.hpp"

#include "base/error.hpp"
#include "tensor/place.hpp"

namespace hone::backend {

void Backend::require_device(std::string_view device) const {
  if (tensor::parse_place(device).kind != tensor::PlaceKind::kCpu)
    fail_environment("the backend {} runs on the CPU, not on {}", name(), device);
}

std::vector<Refusal> Backend::refusals(const importer::Model& model, const LoadOptions&) {
  return std::vector<Refusal>(model.graph->nodes.size());
}

Handover Backend::handover(std::string_view device) const {
  if (tensor::parse_place(device).kind == tensor::PlaceKind::kCpu) return {};
  return {.input_copies = 1, .output_copies = 1, .synchronisations = 1};
}

}  // namespace hone::backend
