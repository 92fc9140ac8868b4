// See read_described.hpp.
#include "base/read_described.hpp"

namespace hone::base::described_detail {

void fail_field(const std::string& path, std::string_view problem) {
  fail_bad_input("{} {}", path.empty() ? "the document" : "the field " + path, problem);
}

const Json* find_member(const Json& json, std::string_view name) {
  const auto found = json.find(std::string(name));
  return found == json.end() ? nullptr : &*found;
}

std::string member_path(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
}

}  // namespace hone::base::described_detail
