// See symbols.hpp.
#include "report/terminal/symbols.hpp"

#include <cstdlib>
#include <utility>

namespace hone::report {

bool has_unicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view locale(value);
    return locale != "C" && locale != "POSIX";
  }
  // Containers usually have no locale, but the terminals that show their output support Unicode.
  return true;
}

std::string_view ellipsis() { return has_unicode() ? "…" : ".."; }
std::string_view plus_minus() { return has_unicode() ? "±" : "+-"; }

std::string with_symbols(std::string text) {
  if (has_unicode()) return text;
  for (const auto& [symbol, plain] :
       {std::pair<std::string_view, std::string_view>{"…", ".."}, {"±", "+-"}}) {
    for (size_t at = text.find(symbol); at != std::string::npos; at = text.find(symbol, at + plain.size()))
      text.replace(at, symbol.size(), plain);
  }
  return text;
}

}  // namespace hone::report
