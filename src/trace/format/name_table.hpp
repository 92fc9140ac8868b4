// Looks up the meaning of a name in a file format without regard to case: writers of different years use
// different case.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace hone::trace {

template <class Value>
struct NamedValue {
  std::string_view name;  ///< in lower case
  Value value;
};

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Names sorted by length, so that a look-up compares only the few names of the same length.
template <class Value, size_t kCount>
class NameTable {
 public:
  constexpr explicit NameTable(std::array<NamedValue<Value>, kCount> entries) : entries_(entries) {
    std::sort(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) {
      return a.name.size() != b.name.size() ? a.name.size() < b.name.size() : a.name < b.name;
    });
    for (size_t i = kCount; i-- > 0;) first_[entries_[i].name.size()] = static_cast<unsigned char>(i + 1);
  }

  /// The value for that name, or null.
  constexpr const Value* find(std::string_view name) const {
    if (name.size() >= first_.size() || first_[name.size()] == 0) return nullptr;
    for (size_t i = first_[name.size()] - 1U; i < kCount && entries_[i].name.size() == name.size(); ++i) {
      if (equal(name, entries_[i].name)) return &entries_[i].value;
    }
    return nullptr;
  }

 private:
  static constexpr bool equal(std::string_view text, std::string_view lower_case) {
    for (size_t i = 0; i < text.size(); ++i) {
      if (lower(text[i]) != lower_case[i]) return false;
    }
    return true;
  }

  std::array<NamedValue<Value>, kCount> entries_;
  std::array<unsigned char, 64> first_{};  // for each length, the index of its first name plus 1
};

template <class Value, size_t kCount>
NameTable(std::array<NamedValue<Value>, kCount>) -> NameTable<Value, kCount>;

}  // namespace hone::trace
