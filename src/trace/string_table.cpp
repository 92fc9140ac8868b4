// See string_table.hpp.
#include "trace/string_table.hpp"

namespace hone::trace {

StringTable& StringTable::operator=(const StringTable& other) {
  if (this == &other) return *this;
  texts_.clear();
  ids_.clear();
  for (const std::string& text : other.texts_) intern(text);
  return *this;
}

StringId StringTable::intern(std::string_view text) {
  if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
  const auto id = static_cast<StringId>(texts_.size());
  texts_.emplace_back(text);
  ids_.emplace(texts_.back(), id);
  return id;
}

StringId StringTable::find(std::string_view text) const {
  const auto found = ids_.find(text);
  return found == ids_.end() ? 0 : found->second;
}

}  // namespace hone::trace
