// The HTTP server for a site, by cpp-httplib. See site_server.hpp.
#include "report/page/site_server.hpp"

#include <httplib.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace hone::report {
namespace {

constexpr size_t kThreads = 64;  // a slow client occupies one of them
constexpr int kBacklog = 512;    // of connections; the default of the library is 5

/// A page of another site can make a browser send requests to this server under a host name of that site (DNS
/// rebinding). Therefore only names of this machine are accepted.
bool names_this_machine(const std::string& host) {
  const size_t colon = host.rfind(':');
  const bool has_port = colon != std::string::npos && host.find(']', colon) == std::string::npos;
  const std::string name = has_port ? host.substr(0, colon) : host;
  return name == "localhost" || name == "[::1]" || name.starts_with("127.");
}

class HttpSiteServer : public SiteServer {
 public:
  HttpSiteServer(SiteContent& content, const ServerOptions& options)
      : content_(content), local_(is_loopback(options.host)), policy_(content.policy()) {
    server_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    server_.set_keep_alive_timeout(2);  // stopping the server waits this long
    server_.set_read_timeout(5);
    server_.set_write_timeout(options.patience_seconds);
    server_.set_payload_max_length(0);
    // The library sets SO_REUSEPORT, with which two servers could share a port and its clients. It is left
    // out here.
    server_.set_socket_options([this](int socket) {
      socket_ = socket;
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    server_.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      return before(request, response);
    });
    server_.set_exception_handler(
        [](const httplib::Request&, httplib::Response& response, const std::exception_ptr&) {
          response.status = 500;
          response.set_content("hone failed to answer this\n", "text/plain");
        });
    server_.Get(".*", [this](const httplib::Request& request, httplib::Response& response) {
      answer(request, response);
    });
    port_ = options.port == 0 ? server_.bind_to_any_port(options.host)
                              : (server_.bind_to_port(options.host, options.port) ? options.port : -1);
    if (port_ >= 0) ::listen(socket_, kBacklog);
  }

  int port() const override { return port_; }
  void serve() override {
    server_.listen_after_bind();
    served_ = true;
  }
  void stop() override {
    // The library ignores stop() before serving has begun.
    while (!server_.is_running() && !served_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    server_.stop();
  }

 private:
  using Handled = httplib::Server::HandlerResponse;

  Handled before(const httplib::Request& request, httplib::Response& response) const {
    response.set_header("Content-Security-Policy", policy_);
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_header("Referrer-Policy", "no-referrer");
    response.set_header("Cross-Origin-Resource-Policy", "same-origin");
    response.set_header("Cache-Control", "no-cache");
    if (local_ && !names_this_machine(request.get_header_value("Host"))) {
      response.status = 421;
      response.set_content("hone view answers to the names of this machine only\n", "text/plain");
      return Handled::Handled;
    }
    if (request.method != "GET" && request.method != "HEAD") {
      response.status = 405;
      response.set_header("Allow", "GET, HEAD");
      return Handled::Handled;
    }
    return Handled::Unhandled;
  }

  void answer(const httplib::Request& request, httplib::Response& response) {
    SiteRequest asked{request.path, {}, request.get_header_value("If-None-Match")};
    for (const auto& [name, value] : request.params) asked.parameters[name] = value;
    SiteResponse answered = content_.answer(asked);
    response.status = answered.status;
    if (!answered.tag.empty()) response.set_header("ETag", answered.tag);
    if (answered.stream != nullptr) return send(std::move(answered), response);
    if (answered.status != 304) response.set_content(answered.body, answered.type);
  }

  /// Sends the body piece by piece, until its end or until the client disconnects.
  static void send(SiteResponse answered, httplib::Response& response) {
    response.set_chunked_content_provider(
        answered.type, [stream = std::move(answered.stream)](size_t, httplib::DataSink& sink) {
          std::string piece;
          if (!stream->next(&piece)) {
            sink.done();
            return true;
          }
          return piece.empty() ? sink.is_writable() : sink.write(piece.data(), piece.size());
        });
  }

  SiteContent& content_;
  bool local_;
  std::string policy_;
  httplib::Server server_;
  int socket_ = -1;  // the library's socket
  int port_ = -1;
  std::atomic<bool> served_ = false;
};

}  // namespace
}  // namespace hone::report

extern "C" __attribute__((visibility("default"))) hone::report::SiteServer* hone_make_site_server(
    hone::report::SiteContent* content, const hone::report::ServerOptions* options) {
  auto server = std::make_unique<hone::report::HttpSiteServer>(*content, *options);
  return server->port() < 0 ? nullptr : server.release();
}
