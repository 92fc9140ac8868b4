// `hone profile detect ARGS`: runs `hone detect ARGS` and records a timeline of its stages and, if it uses a
// GPU, of the GPU's work.
#pragma once

#include <string>
#include <vector>

namespace hone::cli {

/// `words` are the words after `detect`. Their --trace FILE names the output; `trace` is used if they have
/// none. Throws ProgramFailed with the command's exit code if the command fails.
void profile_detect(std::vector<std::string> words, const std::string& trace);

/// Returns the value of the last `--trace FILE` or `--trace=FILE` among the words; empty if there is none.
std::string trace_among(const std::vector<std::string>& words);

}  // namespace hone::cli
