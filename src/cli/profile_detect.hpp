// `hone profile detect ARGS`: `hone detect ARGS` with a timeline of its stages and, where it runs on a GPU,
// of the GPU's work.
#pragma once

#include <string>
#include <vector>

namespace hone::cli {

/// `words`: the words after `detect`, with --trace FILE or, else, with `trace` for that. Throws
/// ProgramFailed with the command's own exit code where it has one.
void profile_detect(std::vector<std::string> words, const std::string& trace);

/// The value of the last `--trace FILE` or `--trace=FILE` among the words; empty where there is none.
std::string trace_among(const std::vector<std::string>& words);

}  // namespace hone::cli
