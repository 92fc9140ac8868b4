// Any bytes given to the parser of graphs become a graph or a bad-input error, nothing else; and the text of
// such a graph, parsed again, has the same text.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.hpp"
#include "graph/text/parser.hpp"
#include "graph/text/printer.hpp"
#include "graph/verify.hpp"

namespace {

/// Limit of the constants that one input describes without spelling them out.
constexpr int64_t kMostBytes = 1 << 16;
/// Every element is spelled out.
constexpr hone::graph::PrintOptions kWhole{.elements = {.most_elements = kMostBytes}};

void check(std::string_view text) {
  const hone::graph::Graph graph =
      hone::graph::parse_graph(text, {.elided_fill = 0.5, .max_described_bytes = kMostBytes});
  hone::graph::verify(graph, "parsing");
  const std::string printed = hone::graph::print_graph(graph, kWhole);
  if (hone::graph::print_graph(hone::graph::parse_graph(printed), kWhole) != printed) std::abort();
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
