// See error.hpp.
#include "base/error.hpp"

namespace hone {

Error::Error(ErrorKind kind, std::string sentence, std::string where)
    : kind_(kind), sentence_(std::move(sentence)), where_(std::move(where)) {
  text_ = where_.empty() ? sentence_ : where_ + ": " + sentence_;
}

Error Error::within(std::string_view outer) const {
  std::string place(outer);
  if (!where_.empty()) place += ": " + where_;
  return Error(kind_, sentence_, std::move(place));
}

}  // namespace hone
