// See version.hpp; the build writes the commit into hone_commit.hpp.
#include "base/version.hpp"

#include "hone_commit.hpp"

namespace hone::base {

std::string_view version() { return HONE_VERSION; }
std::string_view commit() { return HONE_COMMIT; }

}  // namespace hone::base
