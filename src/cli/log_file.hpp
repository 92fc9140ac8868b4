// The destination of a command's answer: standard output, or the file of --log-file (an option of nvprof).
#pragma once

#include <string>

namespace hone::cli {

/// Replaces nvprof's placeholders in a name: %p is the process id, %h the host, %q{NAME} an environment
/// variable, %% a per cent sign. Other placeholders and unset variables are usage errors.
std::string expand_log_name(const std::string& name);

/// Call this before the work: throws an environment error if the file cannot be written, and a usage error if
/// it is the command's input.
void check_log(const std::string& name, const std::string& input);

/// Writes to standard output for "" and "%1", to standard error for "%2", else to the file, which is
/// published only when complete.
void write_log(const std::string& name, const std::string& text);

}  // namespace hone::cli
