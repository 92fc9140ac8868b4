// Names of events, each stored once: a trace of a million kernels has a few hundred names.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace hone::trace {

/// Index into a StringTable; 0 is the empty string.
using StringId = uint32_t;

class StringTable {
 public:
  StringTable() { intern(""); }
  StringTable(const StringTable& other) { *this = other; }
  StringTable& operator=(const StringTable& other);
  StringTable(StringTable&&) noexcept = default;
  StringTable& operator=(StringTable&&) noexcept = default;
  ~StringTable() = default;

  StringId intern(std::string_view text);
  /// The id of a text that is in the table; 0 otherwise.
  StringId find(std::string_view text) const;
  const std::string& operator[](StringId id) const { return texts_[id]; }
  size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // texts keep their addresses, so the keys below may point to them
  std::unordered_map<std::string_view, StringId> ids_;
};

}  // namespace hone::trace
