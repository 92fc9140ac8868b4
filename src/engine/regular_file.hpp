// A check before an untrusted name is opened for reading.
#pragma once

#include <filesystem>

namespace hone::engine {

/// Bad input for a directory, a pipe, a device or a socket: opening a pipe waits for whoever writes to it,
/// maybe forever. What is not there, or cannot be asked for, is left to the opening.
void check_regular_file(const std::filesystem::path& path);

}  // namespace hone::engine
