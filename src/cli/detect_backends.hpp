// `hone detect --backends a,b`: runs the same pipeline with each backend in its own process and prints a
// table of the results.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace hone::cli {

struct BackendsRequest {
  std::vector<std::string> backends;
  std::vector<std::string> outputs;  ///< each backend writes its own file: out.mp4 becomes out.torch.mp4
  std::string stats;                 ///< file for the table as JSON; empty: none
};

/// Inserts the backend's name before the extension of an output file.
std::filesystem::path output_of(const std::filesystem::path& output, const std::string& backend);

/// Runs the command once for each backend with the options that the user gave, prints the table, and returns
/// clauses about lost frames. A backend that fails gets a row with the reason. Throws a usage error for a
/// backend that does not exist; if none could run, the error of all if they failed alike, else an environment
/// error; and system::Interrupted after printing the rows so far.
std::vector<std::string> detect_with_backends(const CLI::App& command, const BackendsRequest& request);

}  // namespace hone::cli
