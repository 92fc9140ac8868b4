// See batch_program.hpp.
#include "quantize/batch_program.hpp"

#include "base/error.hpp"

namespace hone::quantize {
namespace {

constexpr auto kPatience = std::chrono::minutes(10);

}  // namespace

BatchProgram::BatchProgram(const std::string& command)
    : command_(command), process_({"/bin/sh", "-c", command}, scratch_.folder() / "errors.txt", nullptr) {}

std::optional<std::string> BatchProgram::next() {
  // A program that does not read its input may still write all of its files.
  if (!asked_) process_.send_line("next");
  asked_ = false;
  std::string line;
  switch (process_.read_line(&line, base::Clock::now() + kPatience)) {
    case system::Process::ReadResult::kLine: return line;
    case system::Process::ReadResult::kTimeout:
      fail_environment("the program '{}' named no file in 10 minutes", command_);
    case system::Process::ReadResult::kEnd: break;
  }
  const std::string end = process_.describe_end();
  if (process_.succeeded()) return std::nullopt;
  const std::string last = process_.last_error_line();
  fail_bad_input("the program '{}' {}{}{}", command_, end, last.empty() ? "" : ": ", last);
}

}  // namespace hone::quantize
