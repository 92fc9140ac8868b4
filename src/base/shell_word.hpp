// Quotes words of command lines that messages suggest.
#pragma once

#include <string>

namespace hone::base {

/// A word for a command line, in quotes if the shell would split it.
std::string shell_word(const std::string& text);

}  // namespace hone::base
