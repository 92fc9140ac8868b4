// See live_view.hpp.
#include "cli/live_view.hpp"

#include <fmt/core.h>

namespace hone::cli {

std::string address_of(const std::string& host, int port) {
  return fmt::format("http://{}:{}/", host.find(':') == std::string::npos ? host : "[" + host + "]", port);
}

LiveView::LiveView(const report::ServerOptions& options, const std::string& title)
    : site_(title), server_(report::make_site_server(site_, options)) {
  if (!report::is_loopback(options.host))
    fmt::print(
        stderr,
        "hone: everybody who can reach {} can see these frames; there is no password and no encryption\n",
        options.host);
  fmt::print(stderr, "note: frames are shown at {}\n", address_of(options.host, server_->port()));
  serving_ = std::thread([this] { server_->serve(); });
}

LiveView::~LiveView() {
  site_.end();
  server_->stop();
  serving_.join();
}

}  // namespace hone::cli
