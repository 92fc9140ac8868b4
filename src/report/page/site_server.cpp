// See site_server.hpp.
#include "report/page/site_server.hpp"

#include "base/error.hpp"
#include "base/plugin.hpp"

namespace hone::report {

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

std::unique_ptr<SiteServer> make_site_server(SiteContent& content, const ServerOptions& options) {
  const auto make =
      reinterpret_cast<MakeSiteServer>(base::load_plugin_symbol("view", "hone_make_site_server"));
  std::unique_ptr<SiteServer> server(make(&content, &options));
  if (!server)
    fail_environment("cannot listen on {}, port {}: it is taken, or no address of this machine", options.host,
                     options.port);
  return server;
}

}  // namespace hone::report
