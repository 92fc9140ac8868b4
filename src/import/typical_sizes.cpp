// See typical_sizes.hpp.
#include "import/typical_sizes.hpp"

#include <charconv>

#include "base/error.hpp"

namespace hone::importer {
namespace {

constexpr std::string_view kPrefix = "size.";

}  // namespace

std::map<std::string, int64_t> typical_sizes(const Metadata& metadata) {
  std::map<std::string, int64_t> sizes;
  for (const auto& [key, text] : metadata) {
    if (!key.starts_with(kPrefix)) continue;
    int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || end != text.data() + text.size() || size < 1)
      fail_bad_input("the model's metadata give {} as '{}', which is no positive number", key, text);
    sizes[key.substr(kPrefix.size())] = size;
  }
  return sizes;
}

void set_typical_size(std::string_view symbol, int64_t size, Metadata* metadata) {
  (*metadata)[std::string(kPrefix) + std::string(symbol)] = std::to_string(size);
}

}  // namespace hone::importer
