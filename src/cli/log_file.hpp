// Where a command's answer goes: standard output, or what --log-file names, as nvprof's did.
#pragma once

#include <string>

namespace hone::cli {

/// Names with nvprof's marks replaced: %p the process, %h the host, %q{NAME} an environment variable, %% a
/// per cent sign. Usage error for other marks and variables that are not set.
std::string expand_log_name(const std::string& name);

/// Environment error when nothing can be written there, usage error when it is what the command reads; asked
/// before the work.
void check_log(const std::string& name, const std::string& input);

/// To standard output for "" and "%1", to standard error for "%2", else to the file, whole or not at all.
void write_log(const std::string& name, const std::string& text);

}  // namespace hone::cli
