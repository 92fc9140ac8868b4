// Sentences about frames and images that could not be read.
#pragma once

#include <string>
#include <vector>

#include "media/source.hpp"

namespace hone::task {

/// Returns one clause for each kind of loss, such as "3 frames are missing by the times of the others"; empty
/// if nothing was lost.
std::vector<std::string> loss_texts(const media::Losses& losses, bool is_video);
/// Appends "`count` one|many what" if the count is not 0.
void add_loss(int64_t count, const char* one, const char* many, const char* what,
              std::vector<std::string>* texts);

}  // namespace hone::task
