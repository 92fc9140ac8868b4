// Guesses what a file holds that was given instead of another one, for messages.
#pragma once

#include <string>
#include <string_view>

namespace hone::base {

/// "text", "JSON text", "a web page", "a Git LFS pointer", "a PNG image" and the like, by the beginning of
/// the content; empty if it is none of them.
std::string_view seeming_kind(std::string_view content);

/// "this is text, not a .npy array: ADVICE". `wanted` is "a .npy array". Where a download went wrong, the
/// advice is about that instead.
std::string other_kind_text(std::string_view content, std::string_view wanted, std::string_view advice);

}  // namespace hone::base
