// See kineto_json.hpp.
#include "trace/format/kineto_json.hpp"

#include "base/json.hpp"

namespace hone::trace {

std::string json_string(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_json(std::string_view text) { return Json::accept(text); }

const std::string& JsonStrings::operator[](StringId id) {
  std::string& made = made_[id];
  if (made.empty()) made = json_string(part_ == nullptr ? strings_[id] : part_(strings_[id]));
  return made;
}

void JsonLines::flush() {
  sink_.write(text_);
  text_.clear();
}

}  // namespace hone::trace
