// Interface between a server and the content that it serves. It does not use sockets.
#pragma once

#include <map>
#include <memory>
#include <string>

namespace hone::report {

struct SiteRequest {
  std::string path;  ///< "/api/report"
  std::map<std::string, std::string> parameters;
  std::string if_none_match;
};

/// A body that is generated while it is sent. Used by one thread.
class BodyStream {
 public:
  virtual ~BodyStream() = default;
  /// Returns the next piece, which is empty if there was nothing new for a moment; false at the end.
  virtual bool next(std::string* piece) = 0;
};

struct SiteResponse {
  int status = 200;
  std::string type;  ///< MIME
  std::string body;
  std::string tag;                          ///< ETag; empty: none
  std::shared_ptr<BodyStream> stream = {};  ///< used instead of `body`
};

class SiteContent {
 public:
  virtual ~SiteContent() = default;
  /// May be called from many threads. Errors are answers too: their body is a sentence.
  virtual SiteResponse answer(const SiteRequest& request) = 0;
  /// The Content-Security-Policy of all answers.
  virtual std::string policy() const = 0;
};

}  // namespace hone::report
