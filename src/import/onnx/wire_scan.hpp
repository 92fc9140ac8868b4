// A look at the bytes of a model before protobuf parses them.
//
// Protobuf bounds neither how many messages a file holds nor what each costs: two bytes can stand for an
// empty node of over a hundred. The scan walks the same structure without allocating, so limits come first.
#pragma once

#include <cstddef>
#include <span>

namespace hone::importer {

/// Bad input, naming the byte, when the encoding is broken, nests deeper than kMaxMessageDepth, or holds
/// more than kMaxMessages strings and messages.
void scan_model(std::span<const std::byte> bytes);

}  // namespace hone::importer
