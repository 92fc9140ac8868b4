// `hone detect --backends a,b`: the same pipeline with one system after another inside, each in a process of
// its own, and a table of them.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace hone::cli {

struct BackendsRequest {
  std::vector<std::string> backends;
  std::vector<std::string> outputs;  ///< each backend writes its own: out.mp4 becomes out.torch.mp4
  std::string stats;                 ///< the table as JSON; empty: none
};

/// The name of an output with the backend's before the extension.
std::filesystem::path output_of(const std::filesystem::path& output, const std::string& backend);

/// Runs the command once for each backend with the options that it was given, and prints the table. A backend
/// that cannot do it gets a row with the reason; environment error where none could run, system::Interrupted
/// after the rows that there are.
void detect_with_backends(const CLI::App& command, const BackendsRequest& request);

}  // namespace hone::cli
