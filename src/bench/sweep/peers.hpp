// How a backend's worker is started: the built-in ones through `hone worker`, external ones through a
// command of the user (--peer) or an executable file named `worker` in a folder of bench/peers.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace hone::bench {

using Command = std::vector<std::string>;

class Peers {
 public:
  /// `has_option`: whether the user can name others by --peer.
  explicit Peers(Command builtin, bool has_option = true)
      : builtin_(std::move(builtin)), has_option_(has_option) {}

  /// "name=command", run by the shell; returns the name. Usage error when malformed.
  std::string add(const std::string& definition);
  /// True if the backend is an external program.
  bool is_external(const std::string& backend) const;
  /// Usage error for a name that is neither built in, defined, nor a folder of bench/peers.
  Command command(const std::string& backend) const;

 private:
  Command builtin_;
  bool has_option_;
  std::map<std::string, std::string> shell_commands_;
};

}  // namespace hone::bench
