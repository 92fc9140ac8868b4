// Unique names for files and for the targets of links.
#pragma once

#include <set>
#include <string>

namespace hone::report {

class Ids {
 public:
  /// Returns the wanted name or, if it is already taken, "name-2", "name-3" …
  std::string take(const std::string& wanted);

 private:
  std::set<std::string> taken_;
};

}  // namespace hone::report
