// `hone worker`: the hidden command that runs one backend for `hone bench`; docs/BENCHMARK.md describes the
// protocol.
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>

#include "bench/worker/subject.hpp"
#include "bench/worker/worker_server.hpp"
#include "cli/command.hpp"
#include "import/load.hpp"

namespace hone::cli {
namespace {

/// The protocol moves to its own descriptor, and standard output becomes standard error, because libraries
/// may print.
std::FILE* take_over_output() {
  const int protocol = ::dup(STDOUT_FILENO);
  std::FILE* stream = protocol < 0 ? nullptr : ::fdopen(protocol, "w");
  if (stream == nullptr || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    fail_environment("cannot redirect the output");
  return stream;
}

void serve(const importer::LoadModelOptions& parameters) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::FILE* out = take_over_output();
  bench::WorkerServer server([&](const std::string& spec) { return bench::load_subject(spec, parameters); });
  server.serve([](std::string* line) { return static_cast<bool>(std::getline(std::cin, *line)); },
               [out](const std::string& line) {
                 std::fwrite(line.data(), 1, line.size(), out);
                 std::fputc('\n', out);
                 std::fflush(out);
               });
}

}  // namespace

void add_worker_command(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("worker", "Run one backend for hone bench (JSON lines on the pipes)");
  command->group("");
  const auto parameters = std::make_shared<importer::LoadModelOptions>();
  command->add_option("--weights", parameters->weights, "Parameters of built-in architectures");
  command->add_option("--seed", parameters->seed, "Seed of their parameters");
  command->add_option("--darknet-rules", parameters->darknet_rules, "Whose program darknet networks are for");
  command->callback([parameters] { serve(*parameters); });
}

}  // namespace hone::cli
