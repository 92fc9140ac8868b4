// Throws the only exception type of the project. Library code throws it for everything that a user or the
// environment can cause; assertions are only for bugs. The command line converts the kind to an exit code.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "hone/error.hpp"

namespace hone {

/// The device is gone: the error says nothing about the operation that failed, and no further operation can
/// be tried on the device.
struct LostDevice : Error {
  explicit LostDevice(std::string sentence) : Error(ErrorKind::kEnvironment, std::move(sentence)) {}
};

template <class... Args>
[[noreturn]] void fail_bad_input(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorKind::kBadInput, fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
[[noreturn]] void fail_usage(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorKind::kUsage, fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
[[noreturn]] void fail_environment(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorKind::kEnvironment, fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
[[noreturn]] void fail_internal(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorKind::kInternal, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace hone
