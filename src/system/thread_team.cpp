// See thread_team.hpp. Loops reach the team through the functions of libgomp that GCC calls for them. The
// functions defined here come before libgomp's in the symbol lookup, and forward loops that do not belong to
// the team.
#include "system/thread_team.hpp"

namespace hone::system {
namespace {

/// True if loops that this thread begins belong to the team.
thread_local bool t_wanted = false;

}  // namespace

TeamScope::TeamScope() : before_(t_wanted) { t_wanted = true; }
TeamScope::~TeamScope() { t_wanted = before_; }

}  // namespace hone::system

#if defined(__GNUC__) && !defined(__clang__)

#include <dlfcn.h>
#include <immintrin.h>
#include <linux/futex.h>
#include <omp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstdint>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include "base/clock.hpp"

namespace hone::system {
namespace {

using Function = void (*)(void*);
using Number = std::atomic<uint32_t>;

/// How long threads spin while they wait for the next loop or for the end of one. Steps of a network follow
/// each other within some microseconds, and waking a thread takes as long.
constexpr auto kSpinTime = std::chrono::microseconds(30);
constexpr int kMostShares = 256;
constexpr int kCacheLine = 64;

void sleep_while(Number& number, uint32_t value) {
  ::syscall(SYS_futex, reinterpret_cast<uint32_t*>(&number), FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

void wake(Number& number, int threads) {
  ::syscall(SYS_futex, reinterpret_cast<uint32_t*>(&number), FUTEX_WAKE_PRIVATE, threads, nullptr, nullptr,
            0);
}

/// Returns true if the condition became true in this time.
template <class Condition>
bool spin_until(const Condition& condition) {
  const auto start = base::Clock::now();
  do {
    for (int i = 0; i < 32; ++i) {
      if (condition()) return true;
      _mm_pause();
    }
  } while (base::Clock::now() - start < kSpinTime);
  return condition();
}

class Team;

/// A thread's position in the loop that it runs; without shares outside of a team's loops.
struct Place {
  Team* team = nullptr;
  int share = 0;
  int shares = 0;
  bool parallel = false;
};

thread_local Place t_place;

/// Runs f at this position.
void run_at(const Place& place, Function f, void* data) {
  const Place before = t_place;
  t_place = place;
  f(data);
  t_place = before;
}

/// The threads of one calling thread. Loops have numbers from 1 on, which are part of the word that announces
/// them; a thread takes a share by writing the loop's number to it.
class Team {
 public:
  ~Team() {
    ending_.store(true);
    announce(0);
    for (std::thread& thread : threads_) thread.join();
  }

  /// Returns false without any effect if there are not enough threads.
  bool run(Function f, void* data, int shares) {
    if (!has_threads(shares - 1)) return false;
    function_ = f;
    data_ = data;
    left_.store(static_cast<uint32_t>(shares), std::memory_order_relaxed);
    announce(shares);
    take_shares(loop_, shares, 0);
    wait_for_the_others();
    return true;
  }

  void barrier(int shares) {
    const uint32_t round = barrier_round_.load();
    if (barrier_count_.fetch_add(1) + 1 == static_cast<uint32_t>(shares)) {
      barrier_count_.store(0);
      barrier_round_.fetch_add(1);
      wake(barrier_round_, INT_MAX);
      return;
    }
    const auto passed = [&] { return barrier_round_.load() != round; };
    if (spin_until(passed)) return;
    while (!passed()) sleep_while(barrier_round_, round);
  }

 private:
  struct alignas(kCacheLine) Share {
    std::atomic<uint64_t> loop{0};  ///< the last loop in which it was taken
  };

  static constexpr int kShareBits = 16;

  bool has_threads(int count) {
    try {
      while (static_cast<int>(threads_.size()) < count) {
        const int own = static_cast<int>(threads_.size()) + 1;
        threads_.emplace_back([this, own, loop = loop_] { serve(own, loop); });
      }
    } catch (const std::system_error&) {
      return false;
    }
    return true;
  }

  void announce(int shares) {
    ++loop_;
    word_.store(loop_ << kShareBits | static_cast<uint64_t>(shares));
    signal_.store(static_cast<uint32_t>(loop_));
    if (sleepers_.load() > 0) wake(signal_, shares == 0 ? INT_MAX : shares - 1);
  }

  /// The main loop of a thread; `loop` is the last loop that it ignores.
  void serve(int own, uint64_t loop) {
    const auto is_announced = [&] { return word_.load() >> kShareBits != loop; };
    for (;;) {
      if (!spin_until(is_announced)) {
        sleepers_.fetch_add(1);
        while (!is_announced()) sleep_while(signal_, static_cast<uint32_t>(loop));
        sleepers_.fetch_sub(1);
      }
      if (ending_.load()) return;
      // Reads number and shares together, because the loop may already be over, and another one begun.
      const uint64_t word = word_.load();
      loop = word >> kShareBits;
      take_shares(loop, static_cast<int>(word & ((1U << kShareBits) - 1)), own);
    }
  }

  /// Takes its own share first, whose data may still be in the core's caches from the previous loop.
  void take_shares(uint64_t loop, int shares, int own) {
    for (int i = 0; i < shares; ++i) {
      const int share = (own + i) % shares;
      std::atomic<uint64_t>& taken = shares_[static_cast<size_t>(share)].loop;
      uint64_t last = taken.load();
      // If the loop is over, all of its shares have been taken, in this loop or a later one.
      if (last >= loop || !taken.compare_exchange_strong(last, loop)) continue;
      run_at({this, share, shares, true}, function_, data_);
      if (left_.fetch_sub(1) == 1 && caller_sleeps_.load()) wake(left_, 1);
    }
  }

  void wait_for_the_others() {
    const auto done = [&] { return left_.load() == 0; };
    if (spin_until(done)) return;
    caller_sleeps_.store(true);
    for (uint32_t left = left_.load(); left != 0; left = left_.load()) sleep_while(left_, left);
    caller_sleeps_.store(false);
  }

  std::vector<std::thread> threads_;
  uint64_t loop_ = 0;
  /// The loop that was announced last; both members stay valid until all its shares are done.
  Function function_ = nullptr;
  void* data_ = nullptr;
  /// Number and shares of this loop; the lower half of the number is used by threads that sleep.
  alignas(kCacheLine) std::atomic<uint64_t> word_{0};
  Number signal_{0};
  Number sleepers_{0};
  std::atomic<bool> ending_{false};
  /// Number of shares that are not done.
  alignas(kCacheLine) Number left_{0};
  std::atomic<bool> caller_sleeps_{false};
  alignas(kCacheLine) Number barrier_count_{0};
  Number barrier_round_{0};
  std::array<Share, kMostShares> shares_;
};

Team& own_team() {
  thread_local const std::unique_ptr<Team> kTeam = std::make_unique<Team>();
  return *kTeam;
}

/// libgomp's own function with this name.
template <class Type>
Type* gomp(const char* name) {
  return reinterpret_cast<Type*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace
}  // namespace hone::system

using hone::system::t_place;
using hone::system::t_wanted;

extern "C" {

__attribute__((visibility("default"))) void GOMP_parallel(void (*f)(void*), void* data, unsigned threads,
                                                          unsigned flags) {
  static auto* const kReal =
      hone::system::gomp<void(void (*)(void*), void*, unsigned, unsigned)>("GOMP_parallel");
  // Inside of a loop that threads share, one thread runs the whole of a nested loop.
  if (t_place.parallel) return hone::system::run_at({nullptr, 0, 1, true}, f, data);
  if (!t_wanted) return kReal(f, data, threads, flags);
  const int shares = threads == 0 ? omp_get_max_threads() : static_cast<int>(threads);
  if (shares == 1) return hone::system::run_at({nullptr, 0, 1, false}, f, data);
  if (shares > hone::system::kMostShares || !hone::system::own_team().run(f, data, shares))
    kReal(f, data, threads, flags);
}

__attribute__((visibility("default"))) void GOMP_barrier() {
  static auto* const kReal = hone::system::gomp<void()>("GOMP_barrier");
  if (t_place.shares == 0) return kReal();
  if (t_place.shares > 1) t_place.team->barrier(t_place.shares);
}

__attribute__((visibility("default"))) int omp_get_thread_num() {
  static auto* const kReal = hone::system::gomp<int()>("omp_get_thread_num");
  return t_place.shares > 0 ? t_place.share : kReal();
}

__attribute__((visibility("default"))) int omp_get_num_threads() {
  static auto* const kReal = hone::system::gomp<int()>("omp_get_num_threads");
  return t_place.shares > 0 ? t_place.shares : kReal();
}

__attribute__((visibility("default"))) int omp_in_parallel() {
  static auto* const kReal = hone::system::gomp<int()>("omp_in_parallel");
  return t_place.shares > 0 ? static_cast<int>(t_place.parallel) : kReal();
}

}  // extern "C"

#endif
