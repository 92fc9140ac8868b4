// Thrown if there is not enough memory now; at another time or with another limit, there may be enough.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "hone/error.hpp"

namespace hone {

struct OutOfMemory : Error {
  OutOfMemory(ErrorKind kind, std::string sentence) : Error(kind, std::move(sentence)) {}
  explicit OutOfMemory(const Error& error) : Error(error) {}
};

inline bool is_out_of_memory(const Error& error) {
  return dynamic_cast<const OutOfMemory*>(&error) != nullptr;
}

/// Rethrows the error with an outer place, keeping its type.
[[noreturn]] inline void rethrow_within(const Error& error, std::string_view outer) {
  if (is_out_of_memory(error)) throw OutOfMemory(error.within(outer));
  throw error.within(outer);
}

}  // namespace hone
