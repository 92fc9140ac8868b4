// See setup.hpp.
#include "bench/setup.hpp"

#include <fmt/format.h>

#include "tensor/place.hpp"

namespace hone::bench {

std::string Setup::text() const { return fmt::format("{} {} {} batch {}", model, backend, precision, batch); }

/// The text is not parsed, because files may name devices that hone does not know.
bool Setup::on_cpu() const { return device == tensor::place_text({}); }

Setup comparable_part(Setup setup, const MayDiffer& may_differ) {
  const Setup plain;
  if (may_differ.model) setup.model = plain.model;
  if (may_differ.system) {
    setup.backend = plain.backend;
    setup.precision = plain.precision;
  }
  if (may_differ.batch) setup.batch = plain.batch;
  if (setup.on_cpu()) setup.transfers = plain.transfers;
  setup.streams = plain.streams;
  return setup;
}

bool comparable(const Setup& a, const Setup& b, const MayDiffer& may_differ) {
  return comparable_part(a, may_differ) == comparable_part(b, may_differ);
}

}  // namespace hone::bench
