// Throwing the one exception type of the project. Library code throws it for everything a user or the
// environment can cause; assertions are for bugs only. The command line turns a kind into an exit code.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "hone/error.hpp"

namespace hone {

/// The device is gone: what met this says nothing of itself, and nothing else can be tried there.
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
