// See setup.hpp.
#include "bench/setup.hpp"

#include "bench/worker/protocol.hpp"

namespace hone::bench {

std::string Setup::text() const { return fmt::format("{} {} {} batch {}", model, backend, precision, batch); }

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
