// See losses.hpp.
#include "task/losses.hpp"

#include <fmt/core.h>

namespace hone::task {

void add_loss(int64_t count, const char* one, const char* many, const char* what,
              std::vector<std::string>* texts) {
  if (count > 0) texts->push_back(fmt::format("{} {} {}", count, count == 1 ? one : many, what));
}

std::vector<std::string> loss_texts(const media::Losses& losses, bool is_video) {
  std::vector<std::string> texts;
  if (is_video)
    add_loss(losses.damaged, "packet was", "packets were", "damaged or could not be decoded", &texts);
  else
    add_loss(losses.damaged, "image", "images", "could not be decoded", &texts);
  add_loss(losses.corrupt, "frame is", "frames are", "damaged, and used as far as decoded", &texts);
  add_loss(losses.skipped, "packet", "packets", "gave no frame", &texts);
  add_loss(losses.missing, "frame is", "frames are", "missing by the times of the others", &texts);
  if (!losses.container.empty()) texts.push_back(losses.container);
  if (!losses.ended_early.empty()) texts.push_back(losses.ended_early);
  return texts;
}

}  // namespace hone::task
