// MPEG transport streams have no header that says how long they are.
#pragma once

#include <string>

namespace hone::media {

/// True if the file ends within one of its packets of 188 bytes, so that it was cut.
bool ends_within_packet(const std::string& file);

}  // namespace hone::media
