// See kineto_reader.hpp.
#include "trace/format/kineto_reader.hpp"

#include "base/error.hpp"
#include "system/memory.hpp"
#include "trace/format/byte_source.hpp"
#include "trace/format/json_pieces.hpp"
#include "trace/format/kineto_builder.hpp"
#include "trace/format/kineto_event.hpp"
#include "trace/format/kineto_header.hpp"

namespace hone::trace {
namespace {

void note_end(const ByteSource& source, const JsonPieces& pieces, Trace& trace) {
  if (!source.damage().empty()) {
    trace.doubt(Severity::kLoss, "file", source.damage() + "; what came after is missing", 0);
  } else if (!pieces.complete()) {
    trace.doubt(Severity::kLoss, "file", "breaks off; what came after is missing", 0);
  }
  if (pieces.oversized() != 0)
    trace.doubt(Severity::kLoss, "file", "parts of it were too long to read and were left out",
                static_cast<int64_t>(pieces.oversized()));
}

}  // namespace

Trace read_kineto(const std::filesystem::path& path) {
  ByteSource source(path);
  JsonPieces pieces(source, "traceEvents");
  KinetoEventParser parser;
  KinetoHeader header;
  KinetoBuilder builder(system::memory_limit());
  KinetoEvent event;
  while (true) {
    const JsonPieces::Piece piece = pieces.next();
    if (piece.kind == JsonPieces::Kind::kEnd) break;
    if (piece.kind == JsonPieces::Kind::kMember) {
      header.add(piece.key, piece.text);
    } else if (!builder.full()) {
      if (parser.parse(piece.text, JsonPieces::kPadding, event)) {
        builder.add(event);
      } else {
        builder.add_unreadable();
      }
    }
  }
  // Any list could be a trace without events; only a list under the right name is accepted as one.
  const bool nameless = pieces.bare_array() && !builder.kept_something();
  if (!pieces.found_array() || builder.only_unreadable() || nameless)
    fail_bad_input("{}: no trace: it is not JSON with a list of traceEvents", path.string());
  if (!builder.kept_something() && builder.left_out() > 0)
    fail_bad_input("{}: none of its {} can be read: they lack times or ends, or are of unknown categories",
                   path.string(),
                   builder.left_out() == 1 ? "events" : fmt::format("{} events", builder.left_out()));
  Trace trace = builder.finish();
  header.apply(trace);
  note_end(source, pieces, trace);
  normalize(trace);
  return trace;
}

}  // namespace hone::trace
