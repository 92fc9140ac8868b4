// How the worker of a backend is started: built-in backends through `hone worker`, external ones through a
// command of the user (--peer) or an executable file named `worker` in a folder of bench/peers.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace hone::bench {

using Command = std::vector<std::string>;

class Peers {
 public:
  /// `has_option` is true if the user can define others with --peer.
  explicit Peers(Command builtin, bool has_option = true)
      : builtin_(std::move(builtin)), has_option_(has_option) {}

  /// Adds a definition "name=command", which the shell runs; returns the name. Usage error if it is
  /// malformed.
  std::string add(const std::string& definition);
  /// True if the backend is an external program.
  bool is_external(const std::string& backend) const;
  /// Usage error for a name that is neither built in nor defined nor a folder of bench/peers.
  Command command(const std::string& backend) const;

 private:
  Command builtin_;
  bool has_option_;
  std::map<std::string, std::string> shell_commands_;
};

}  // namespace hone::bench
