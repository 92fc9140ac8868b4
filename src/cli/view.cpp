// `hone view DIR…`: serves the report's page for folders of runs on this machine until Ctrl-C.
#include <fmt/core.h>
#include <pthread.h>

#include <csignal>
#include <memory>
#include <thread>

#include "cli/command.hpp"
#include "cli/live_view.hpp"
#include "report/page/site.hpp"
#include "report/page/site_server.hpp"

namespace hone::cli {
namespace {

struct Options {
  std::vector<std::string> inputs;
  report::ServerOptions server{.host = "127.0.0.1", .port = 8642};
};

/// Blocks the signals that end the server, in this thread and in threads that it starts later.
sigset_t hold_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

void run(const Options& options) {
  for (const std::string& input : options.inputs) {
    if (!std::filesystem::exists(input)) fail_bad_input("{}: no such file or folder", input);
  }
  const sigset_t signals = hold_signals();
  report::Site site(options.inputs);
  const std::unique_ptr<report::SiteServer> server = report::make_site_server(site, options.server);
  if (!report::is_loopback(options.server.host)) {
    fmt::print(stderr,
               "hone: everybody who can reach {} can read what lies in these folders; there is no "
               "password and no encryption\n",
               options.server.host);
  }
  std::thread serving([&] { server->serve(); });
  fmt::print("{} shows {}; Ctrl-C ends it\n", address_of(options.server.host, server->port()),
             fmt::join(options.inputs, ", "));
  std::fflush(stdout);
  int caught = 0;
  sigwait(&signals, &caught);
  server->stop();
  serving.join();
}

}  // namespace

void add_view_command(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("view", "Serve the report to a browser and update it when files appear");
  const auto options = std::make_shared<Options>();
  command->add_option("inputs", options->inputs, "Files, and folders that are watched for results and traces")
      ->required();
  command->add_option("--port", options->server.port, "Port to listen on; 0 for any that is free")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  command
      ->add_option("--host", options->server.host,
                   "Address to listen on; any but 127.0.0.1 lets other machines connect")
      ->capture_default_str();
  command->callback([options] { run(*options); });
}

}  // namespace hone::cli
