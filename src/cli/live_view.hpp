// Shows frames of `hone detect --view` in a browser, through the server of `hone view`.
#pragma once

#include <memory>
#include <thread>

#include "report/page/live_site.hpp"
#include "report/page/site_server.hpp"

namespace hone::cli {

/// Serves until it is destroyed. Destruction may take a moment if a viewer has stopped reading pictures.
class LiveView {
 public:
  /// Starts listening and prints the address. Throws the errors of make_site_server() and LiveSite.
  LiveView(const report::ServerOptions& options, const std::string& title);
  ~LiveView();
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  void show(const media::Frame& frame) { site_.show(frame); }

 private:
  report::LiveSite site_;
  std::unique_ptr<report::SiteServer> server_;
  std::thread serving_;
};

/// "http://127.0.0.1:8642/"
std::string address_of(const std::string& host, int port);

}  // namespace hone::cli
