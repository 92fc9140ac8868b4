// Programs whose threads wait for each other, for the tests of --trace-threads: the argument says how. Each
// prints the times that a right critical path has, by its own clock.
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// Sleeps and says for how long it really did.
Clock::duration work(int time) {
  const Clock::time_point start = Clock::now();
  std::this_thread::sleep_for(milliseconds(time));
  return Clock::now() - start;
}

void say(const char* name, Clock::duration time) {
  std::printf("%s %lld\n", name, static_cast<long long>(std::chrono::nanoseconds(time).count()));
}

/// The time that a thread needs to begin, on a busy machine some tenths of a second.
Clock::duration starting{};

template <class F>
std::thread begin_thread(const F& run) {
  const Clock::time_point before = Clock::now();
  return std::thread([=] {
    starting = Clock::now() - before;
    run();
  });
}

void say_path(Clock::duration main, Clock::duration worker) {
  say("main", main);
  say("worker", worker);
  say("starting", starting);
}

/// The worker's work is on the path, what main does beside it is not.
void join() {
  Clock::duration first{};
  Clock::duration worker{};
  first = work(100);
  std::thread thread = begin_thread([&] { worker = work(300); });
  work(100);
  const Clock::time_point start = Clock::now();
  thread.join();
  say("waiting", Clock::now() - start);
  say_path(first + work(100), worker);
}

/// Two threads take turns in holding a mutex: the path goes through what each did while holding it.
void mutex() {
  std::mutex guard;
  std::atomic<bool> held = false;
  Clock::duration holder{};
  std::thread thread = begin_thread([&] {
    const std::lock_guard lock(guard);
    held = true;
    holder = work(300);
  });
  while (!held) std::this_thread::yield();
  Clock::duration main{};
  const Clock::time_point start = Clock::now();
  {
    const std::lock_guard lock(guard);
    say("waiting", Clock::now() - start);
    main = work(100);
  }
  thread.join();
  say_path(main, holder);
}

void condition() {
  std::mutex guard;
  std::condition_variable ready;
  bool is_ready = false;
  Clock::duration worker{};
  std::thread thread = begin_thread([&] {
    worker = work(300);
    const std::lock_guard lock(guard);
    is_ready = true;
    ready.notify_one();
  });
  std::unique_lock lock(guard);
  const Clock::time_point start = Clock::now();
  ready.wait(lock, [&] { return is_ready; });
  say("waiting", Clock::now() - start);
  lock.unlock();
  const Clock::duration main = work(100);
  thread.join();
  say_path(main, worker);
}

void semaphore() {
  sem_t done;
  sem_init(&done, 0, 0);
  Clock::duration worker{};
  std::thread thread = begin_thread([&] {
    worker = work(300);
    sem_post(&done);
  });
  const Clock::time_point start = Clock::now();
  while (sem_wait(&done) != 0) {
  }
  say("waiting", Clock::now() - start);
  const Clock::duration main = work(100);
  thread.join();
  say_path(main, worker);
}

/// Nobody comes: the time is the wait's own.
void timeout() {
  std::mutex guard;
  std::condition_variable never;
  std::unique_lock lock(guard);
  const Clock::time_point start = Clock::now();
  never.wait_for(lock, milliseconds(200), [] { return false; });
  say("waiting", Clock::now() - start);
  std::thread([] {}).join();
}

/// Locks that find their mutex free.
void uncontended() {
  std::mutex guard;
  for (int i = 0; i < 1'000'000; ++i) const std::lock_guard lock(guard);
  std::thread([] {}).join();
}

/// More records than the file is first made for.
void many() {
  std::mutex guard;
  std::condition_variable turn;
  int next = 0;
  constexpr int kTurns = 20'000;
  const auto play = [&](int self) {
    std::unique_lock lock(guard);
    while (next < kTurns) {
      if (next % 2 == self) {
        ++next;
        turn.notify_one();
      } else {
        turn.wait(lock);
      }
    }
    turn.notify_all();
  };
  std::thread other(play, 1);
  play(0);
  other.join();
}

void cancel() {
  static std::mutex guard;
  static std::condition_variable never;
  static std::atomic<int> ended = 0;
  std::thread thread([] {
    pthread_cleanup_push([](void*) { ++ended; }, nullptr);
    std::unique_lock lock(guard);
    never.wait(lock, [] { return false; });
    pthread_cleanup_pop(0);
  });
  work(50);
  pthread_cancel(thread.native_handle());
  thread.join();
  std::thread([] { pthread_exit(nullptr); }).join();
  const std::lock_guard lock(guard);  // which the cancelled thread unlocked
  if (ended != 1) std::exit(5);
}

/// The child starts threads of its own, which are not recorded.
void fork_off() {
  std::thread([] { work(10); }).join();
  const pid_t child = fork();
  if (child == 0) {
    std::thread([] { work(10); }).join();
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) std::exit(6);
}

/// The new program has the old one's number, and is recorded as well.
void replace(const char* self) {
  std::thread([] { work(10); }).join();
  execl(self, self, "join", nullptr);
}

void kill_self() {
  std::thread([] { work(50); }).join();
  std::raise(SIGKILL);
}

void many_threads() {
  for (int round = 0; round < 20; ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 100; ++i) threads.emplace_back([] {});
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)()> programs = {
      {"join", join},           {"mutex", mutex},         {"condition", condition},
      {"semaphore", semaphore}, {"timeout", timeout},     {"uncontended", uncontended},
      {"many", many},           {"cancel", cancel},       {"fork", fork_off},
      {"kill", kill_self},      {"threads", many_threads}};
  const std::string name = argc > 1 ? argv[1] : "";
  if (name == "exec") replace(argv[0]);
  const auto found = programs.find(name);
  if (found == programs.end()) return 2;
  found->second();
  return 0;
}
