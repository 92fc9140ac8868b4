// Serves the content of a site over HTTP/1.1. The server is cpp-httplib, in the plugin libhone-view.so.
#pragma once

#include <memory>
#include <string>

#include "report/page/site_content.hpp"

namespace hone::report {

struct ServerOptions {
  std::string host = "127.0.0.1";  ///< address to listen on
  int port = 0;                    ///< 0 for any that is free
  int patience_seconds = 30;       ///< with a client that takes nothing
};

class SiteServer {
 public:
  virtual ~SiteServer() = default;
  virtual int port() const = 0;
  /// Answers until stop() is called by another thread, and then ends what is under way.
  virtual void serve() = 0;
  /// Waits for a serve() that is yet to begin.
  virtual void stop() = 0;
};

/// True if nobody but this machine can reach the address.
bool is_loopback(const std::string& host);

/// Listens already. Environment error when the address or the port is not to be had, or the plugin is
/// missing.
std::unique_ptr<SiteServer> make_site_server(SiteContent& content, const ServerOptions& options);

/// The function that the plugin exports: null when the address cannot be had.
using MakeSiteServer = SiteServer* (*)(SiteContent*, const ServerOptions*);

}  // namespace hone::report
