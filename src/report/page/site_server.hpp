// Serves the content of a site over HTTP/1.1. The server is cpp-httplib, in the plugin libhone-view.so.
#pragma once

#include <memory>
#include <string>

#include "report/page/site_content.hpp"

namespace hone::report {

struct ServerOptions {
  std::string host = "127.0.0.1";  ///< address to listen on
  int port = 0;                    ///< 0: any free port
  int patience_seconds = 30;       ///< limit for a client that does not receive data
};

class SiteServer {
 public:
  virtual ~SiteServer() = default;
  virtual int port() const = 0;
  /// Answers requests until another thread calls stop(); then it finishes the requests in progress.
  virtual void serve() = 0;
  /// Also waits for a serve() that has not begun yet.
  virtual void stop() = 0;
};

/// True if only this machine can reach the address.
bool is_loopback(const std::string& host);

/// Creates a server that is already listening. Environment error if the address or the port is not available,
/// or if the plugin is missing.
std::unique_ptr<SiteServer> make_site_server(SiteContent& content, const ServerOptions& options);

/// The function that the plugin exports; it returns null if the address is not available.
using MakeSiteServer = SiteServer* (*)(SiteContent*, const ServerOptions*);

}  // namespace hone::report
