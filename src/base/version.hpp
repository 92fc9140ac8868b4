// Version and commit of this build.
#pragma once

#include <string_view>

namespace hone::base {

/// "0.1.0".
std::string_view version();
/// The output of `git describe --always --dirty` at build time; "unknown" outside of a repository.
std::string_view commit();

}  // namespace hone::base
