// See ids.hpp.
#include "report/ids.hpp"

#include <fmt/format.h>

namespace hone::report {

std::string Ids::take(const std::string& wanted) {
  std::string id = wanted;
  for (int n = 2; !taken_.insert(id).second; ++n) id = fmt::format("{}-{}", wanted, n);
  return id;
}

}  // namespace hone::report
