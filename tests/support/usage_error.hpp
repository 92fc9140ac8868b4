// Helpers of the tests of refusals: the sentence with which a call ends.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "hone/error.hpp"

namespace hone::test {

/// The sentence of the usage error that the action ends with; empty where it ends well.
template <class Action>
std::string usage_error(Action&& action) {
  try {
    action();
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage) << error.what();
    return error.what();
  }
}

}  // namespace hone::test
