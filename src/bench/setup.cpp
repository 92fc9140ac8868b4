// See setup.hpp.
#include "bench/setup.hpp"

#include "bench/worker/protocol.hpp"

namespace hone::bench {

std::string Setup::text() const { return fmt::format("{} {} {} batch {}", model, backend, precision, batch); }

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

Setup parse_setup(const Json& json) {
  const Setup old;
  return {.model = member<std::string>(json, "model"),
          .backend = member<std::string>(json, "backend"),
          .precision = member<std::string>(json, "precision"),
          .batch = member<int64_t>(json, "batch"),
          .device = member_or(json, "device", old.device),
          .threads = member<int>(json, "threads"),
          .transfers = member_or(json, "includes_transfers", old.transfers),
          .cold_l2 = member_or(json, "cold_l2", old.cold_l2),
          .streams = member_or(json, "streams", old.streams)};
}

}  // namespace hone::bench
