// See file.hpp.
#include "trace/collect/threads/plugin/file.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "trace/collect/plugin/clock.hpp"

namespace hone::trace::threads {
namespace {

constexpr size_t kCapacity = size_t{1} << 28;
constexpr size_t kGrowth = size_t{1} << 20;
constexpr size_t kChunkBytes = 1024;
constexpr uint32_t kLoss = 2;

enum TextId : uint32_t { kProgram = 1, kAbout, kLost };

struct File {
  std::array<char, 4096> folder{};
  std::array<char, 4096 + 64> path{};
  uint64_t start = 0;
  uint64_t first_object = 0;
  uint32_t first_thread = 0;
  char* memory = nullptr;
  size_t loss_place = 0;
  std::atomic<bool> growing = false;
  std::atomic<bool> opened = false;
  std::atomic<bool> failed = false;
  std::atomic<size_t> next = 0;
  std::atomic<size_t> ready = 0;  ///< bytes for which the disk has room
  std::atomic<int64_t> lost = 0;
};

constinit File file{};

/// Held while the system enlarges the file.
class Growing {
 public:
  Growing() {
    while (file.growing.exchange(true, std::memory_order_acquire)) sched_yield();
  }
  ~Growing() { file.growing.store(false, std::memory_order_release); }
  Growing(const Growing&) = delete;
  Growing& operator=(const Growing&) = delete;
};

/// Appends to a buffer that is large enough.
class Appender {
 public:
  explicit Appender(char* at) : begin_(at), at_(at) {}
  void add(const void* bytes, size_t count) {
    std::memcpy(at_, bytes, count);
    at_ += count;
  }
  template <class Record>
  void add(const Record& record) {
    add(&record, sizeof record);
  }
  void add_text(uint32_t id, std::string_view text) {
    raw::Text record;
    record.header.bytes = static_cast<uint16_t>(sizeof record + text.size());
    record.id = id;
    add(record);
    add(text.data(), text.size());
  }
  size_t size() const { return static_cast<size_t>(at_ - begin_); }

 private:
  char* begin_;
  char* at_;
};

/// Creates "<folder>/<process>-threads.honeraw"; a process that replaced itself by exec finds the first name
/// taken.
int create_file() {
  constexpr int kTries = 100;
  for (int number = 1; number <= kTries; ++number) {
    // No formatted printing here: it allocates memory.
    Appender path(file.path.data());
    const std::string_view folder = file.folder.data();
    path.add(folder.data(), folder.size());
    const auto add_number = [&path](uint64_t value) {
      std::array<char, 20> digits{};
      size_t first = digits.size();
      do {
        digits[--first] = static_cast<char>('0' + value % 10);
        value /= 10;
      } while (value != 0);
      path.add(&digits[first], digits.size() - first);
    };
    path.add('/');
    add_number(static_cast<uint64_t>(getpid()));
    constexpr std::string_view kName = "-threads";
    path.add(kName.data(), kName.size());
    if (number > 1) add_number(static_cast<uint64_t>(number));
    constexpr std::string_view kExtension = ".honeraw";
    path.add(kExtension.data(), kExtension.size() + 1);
    const int descriptor = ::open(file.path.data(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  return -1;
}

/// Makes room for that many bytes from the beginning of the file. The descriptor is not kept: a program that
/// closes all descriptors that it does not know could reuse its number.
bool make_room(size_t bytes) {
  const size_t ready = file.ready.load();
  if (bytes <= ready) return true;
  if (bytes > kCapacity) return false;
  const int descriptor = ::open(file.path.data(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return false;
  // If the disk were full, writing to the mapped memory would kill the program.
  const size_t wanted = (bytes + kGrowth - 1) / kGrowth * kGrowth;
  const auto missing = static_cast<off_t>(wanted - ready);
  const bool grown = posix_fallocate(descriptor, static_cast<off_t>(ready), missing) == 0;
  ::close(descriptor);
  if (grown) file.ready.store(wanted);
  return grown;
}

bool has_room(size_t bytes) {
  if (bytes <= file.ready.load()) return true;
  const Growing growing;
  return make_room(bytes);
}

/// Reserves the place of a chunk for this caller; 0 if there is no room. A failed request takes no place, so
/// that chunks follow one another without gaps.
size_t reserve_chunk() {
  size_t place = file.next.load();
  while (has_room(place + kChunkBytes)) {
    if (file.next.compare_exchange_weak(place, place + kChunkBytes)) return place;
  }
  return 0;
}

/// Writes the beginning of the file: the process, and the thread in which it started.
void write_preamble() {
  Appender out(file.memory);
  out.add(raw::kMagic);
  raw::ChunkHeader header;
  const size_t header_place = out.size();
  out.add(header);
  std::array<char, 4096> program{};
  const ssize_t length = readlink("/proc/self/exe", program.data(), program.size());
  out.add_text(kProgram, {program.data(), length < 0 ? 0 : static_cast<size_t>(length)});
  out.add_text(kAbout, "threads");
  out.add_text(kLost, "calls of thread functions were lost, since the file that they go to is full");
  raw::Process process;
  process.process = static_cast<uint32_t>(getpid());
  process.name = kProgram;
  process.clock_ns = inject::clock_now();
  process.utc_ns = inject::nanoseconds_of(CLOCK_REALTIME);
  out.add(process);
  raw::ThreadCall begin;
  begin.start = begin.end = file.start;
  begin.thread = file.first_thread;
  begin.object = file.first_object;
  out.add(begin);
  file.loss_place = out.size();
  constexpr size_t kAlignment = alignof(raw::ThreadCall);
  const size_t end = (out.size() + sizeof(raw::Loss) + kAlignment - 1) / kAlignment * kAlignment;
  header.bytes = static_cast<uint32_t>(end - header_place - sizeof header);
  std::memcpy(file.memory + header_place, &header, sizeof header);
  file.next.store(end);
}

bool open_file() {
  const int descriptor = create_file();
  if (descriptor < 0) return false;
  void* memory = mmap(nullptr, kCapacity, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  ::close(descriptor);
  if (memory == MAP_FAILED || !make_room(1)) return false;
  file.memory = static_cast<char*>(memory);
  write_preamble();
  return true;
}

bool ensure_open() {
  if (file.opened.load(std::memory_order_acquire)) return true;
  const Growing growing;
  if (file.opened.load() || file.failed.load()) return file.opened.load();
  const bool good = open_file();
  (good ? file.opened : file.failed).store(true, std::memory_order_release);
  return good;
}

/// The count is updated in the file itself, so that it is there however the process ends.
void count_lost() {
  raw::Loss loss;
  loss.about = kAbout;
  loss.text = kLost;
  loss.severity = kLoss;
  loss.count = file.lost.fetch_add(1) + 1;
  std::memcpy(file.memory + file.loss_place, &loss, sizeof loss);
}

}  // namespace

bool prepare_file(uint64_t start) {
  const char* folder = std::getenv("HONE_TRACE_FOLDER");
  if (folder == nullptr || std::strlen(folder) >= file.folder.size()) return false;
  std::strcpy(file.folder.data(), folder);
  file.start = start;
  file.first_object = static_cast<uint64_t>(pthread_self());
  file.first_thread = this_thread();
  return true;
}

Chunk take_chunk() {
  if (!ensure_open()) return {};
  const size_t place = reserve_chunk();
  if (place == 0) {
    count_lost();
    return {};
  }
  raw::ChunkHeader header;
  header.bytes = kChunkBytes - sizeof header;
  std::memcpy(file.memory + place, &header, sizeof header);
  auto* first = reinterpret_cast<raw::ThreadCall*>(file.memory + place + sizeof header);
  return {first, first + header.bytes / sizeof(raw::ThreadCall)};
}

bool has_file() { return file.opened.load(); }

uint32_t this_thread() {
  static thread_local constinit uint32_t id = 0;
  if (id == 0) id = static_cast<uint32_t>(syscall(SYS_gettid));
  return id;
}

}  // namespace hone::trace::threads
