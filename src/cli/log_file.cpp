// See log_file.hpp.
#include "cli/log_file.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/error.hpp"
#include "base/file.hpp"
#include "cli/option_checks.hpp"

namespace hone::cli {
namespace {

bool is_file(const std::string& name) { return !name.empty() && name != "%1" && name != "%2"; }

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) fail_usage("--log-file names the environment variable '{}', which is not set", name);
  return value;
}

}  // namespace

std::string expand_log_name(const std::string& name) {
  std::string result;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '%') {
      result += name[i];
      continue;
    }
    const char mark = i + 1 < name.size() ? name[++i] : '\0';
    const size_t close = mark == 'q' && name.substr(i + 1, 1) == "{" ? name.find('}', i) : std::string::npos;
    if (mark == 'p') {
      result += std::to_string(::getpid());
    } else if (mark == 'h') {
      result += host_name();
    } else if (mark == '%') {
      result += '%';
    } else if (close != std::string::npos) {
      result += variable(name.substr(i + 2, close - i - 2));
      i = close;
    } else {
      fail_usage("--log-file knows %1, %2, %p, %h, %q{{NAME}} and %%, not what '{}' has", name);
    }
  }
  return result;
}

void check_log(const std::string& name, const std::string& input) {
  if (!is_file(name)) return;
  const std::string file = expand_log_name(name);
  refuse_overwriting(file, {input});
  base::check_writable(file);
}

void write_log(const std::string& name, const std::string& text) {
  if (is_file(name)) {
    base::write_file_atomic(expand_log_name(name), text);
    return;
  }
  fmt::print(name == "%2" ? stderr : stdout, "{}", text);
}

}  // namespace hone::cli
