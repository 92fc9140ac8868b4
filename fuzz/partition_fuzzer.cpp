// Any bytes given to the reader of partitions become a record that is written and read back unchanged, or a
// bad-input error; and its blocks are a partition of a graph that can be put in order, or a bad-input error.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "backend/partition/checked_blocks.hpp"
#include "base/error.hpp"
#include "base/partition_file.hpp"
#include "graph/text/parser.hpp"

namespace {

/// Three nodes in a row: the record that fits it is in the corpus.
const hone::graph::Graph& graph() {
  static const hone::graph::Graph graph = hone::graph::parse_graph(
      "graph \"three\" (%x: float32[4]) -> (%c) { %a = Tanh(%x) %b = Relu(%a) %c = Neg(%b) }");
  return graph;
}

void check(std::string_view text) {
  hone::base::PartitionRecord record = hone::base::parse_partition(text);
  const std::string written = hone::base::partition_text(record);
  if (hone::base::partition_text(hone::base::parse_partition(written)) != written) std::abort();
  // A search would not guess it.
  record.fingerprint = hone::backend::partition::fingerprint(graph());
  std::vector<std::string> backends;
  const auto blocks = hone::backend::partition::checked_blocks(record, graph(), &backends);
  if (!hone::backend::partition::run_order(hone::backend::partition::Wiring(graph()), blocks)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    check({reinterpret_cast<const char*>(data), size});
  } catch (const hone::Error& error) {
    if (error.kind() != hone::ErrorKind::kBadInput) std::abort();
  }
  return 0;
}
