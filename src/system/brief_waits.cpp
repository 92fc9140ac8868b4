// See brief_waits.hpp.
#include "system/brief_waits.hpp"

#include <unistd.h>

#include <cstdlib>

namespace hone::system {
namespace {

/// Iterations of a loop; 33 us on a Xeon with AMX. On two cores, 300 slowed MobileNetV2 in bf16 by about a
/// tenth, while 10,000 and libgomp's own 300,000 gained nothing.
constexpr const char* kRounds = "2000";
constexpr const char* kSpinCount = "GOMP_SPINCOUNT";
constexpr const char* kStartedAgain = "HONE_WAITS_BRIEFLY";

}  // namespace

void wait_briefly(char** arguments) {
  if (std::getenv(kStartedAgain) != nullptr) {
    ::unsetenv(kStartedAgain);
    ::unsetenv(kSpinCount);
    return;
  }
  if (std::getenv(kSpinCount) != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  ::setenv(kSpinCount, kRounds, 0);
  ::setenv(kStartedAgain, "1", 0);
  ::execv("/proc/self/exe", arguments);
  ::unsetenv(kStartedAgain);
  ::unsetenv(kSpinCount);
}

}  // namespace hone::system
