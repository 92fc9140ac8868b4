// Names that are given once: of files, and of things that links point to.
#pragma once

#include <set>
#include <string>

namespace hone::report {

class Ids {
 public:
  /// The wanted name, or where that is taken "name-2", "name-3" …
  std::string take(const std::string& wanted);

 private:
  std::set<std::string> taken_;
};

}  // namespace hone::report
