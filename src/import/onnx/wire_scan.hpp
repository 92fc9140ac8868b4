// Scans the bytes of a model before protobuf parses them.
//
// Protobuf limits neither the number of messages in a file nor their memory: two bytes can encode an empty
// node that takes over a hundred. The scan walks the same structure without allocating, so that limits are
// checked first.
#pragma once

#include <cstddef>
#include <span>

namespace hone::importer {

/// Throws bad input that gives the position of the byte if the encoding is invalid, nests deeper than
/// kMaxMessageDepth, or has more than kMaxMessages strings and messages.
void scan_model(std::span<const std::byte> bytes);

}  // namespace hone::importer
