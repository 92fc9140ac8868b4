// See raw_writer.hpp.
#include "trace/collect/plugin/raw_writer.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>
#include <unordered_map>

namespace hone::trace::inject {
namespace {

struct Writer {
  std::mutex mutex;
  int file = -1;
  std::unordered_map<std::string, uint32_t> texts;
};

/// Never destroyed: threads may write while the process exits.
Writer*& current_writer() {
  static auto* instance = new Writer;
  return instance;
}

Writer& writer() { return *current_writer(); }

std::atomic<bool> abandoned = false;

void append_locked(const Writer& to, const Batch& batch) {
  const std::string& bytes = batch.bytes();
  if (to.file < 0 || bytes.empty()) return;
  raw::ChunkHeader header;
  header.bytes = static_cast<uint32_t>(bytes.size());
  const std::array<iovec, 2> parts = {iovec{&header, sizeof header},
                                      iovec{const_cast<char*>(bytes.data()), bytes.size()}};
  // If the disk is full, chunks are lost; the reader finds the broken chunk and reports it.
  [[maybe_unused]] const ssize_t written = ::writev(to.file, parts.data(), parts.size());
}

}  // namespace

bool open_writer(const std::string& folder) {
  Writer& to = writer();
  const std::lock_guard lock(to.mutex);
  const std::string path = folder + "/" + std::to_string(getpid()) + ".honeraw";
  to.file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
  if (to.file < 0) return false;
  return ::write(to.file, raw::kMagic.data(), raw::kMagic.size()) == static_cast<ssize_t>(raw::kMagic.size());
}

void append(const Batch& batch) {
  Writer& to = writer();
  const std::lock_guard lock(to.mutex);
  append_locked(to, batch);
}

uint32_t text_id(std::string_view text) {
  text = text.substr(0, raw::Text::kMaxLength);
  Writer& to = writer();
  const std::lock_guard lock(to.mutex);
  const auto [place, is_new] =
      to.texts.try_emplace(std::string(text), static_cast<uint32_t>(to.texts.size() + 1));
  if (!is_new) return place->second;
  raw::Text record;
  record.header.bytes = static_cast<uint16_t>(sizeof record + text.size());
  record.id = place->second;
  Batch batch;
  batch.add(record);
  batch.add(text);
  append_locked(to, batch);
  return record.id;
}

void abandon_writer() {
  // The mutex of the old writer may be held by a thread that the child does not have.
  current_writer() = new Writer;
  abandoned = true;
}

bool is_abandoned() { return abandoned; }

void report_loss(uint32_t severity, std::string_view about, std::string_view text, int64_t count) {
  raw::Loss record;
  record.about = text_id(about);
  record.text = text_id(text);
  record.severity = severity;
  record.count = count;
  Batch batch;
  batch.add(record);
  append(batch);
}

}  // namespace hone::trace::inject
