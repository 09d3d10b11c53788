// Test programs run at the same time, and each asks for ports that its broker binds seconds later.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <vector>

#include "free_port.h"

namespace nustream::tests {
namespace {

using Ports = std::array<std::uint16_t, 400>;

// Two programs that drew at random would share 7 ports on average, and none in one of 1,400 runs.
TEST(FreePort, IsGivenToOneProgramAlone) {
  int channel[2];
  ASSERT_EQ(::pipe(channel), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  Ports own{};
  if (child == 0) {
    for (std::uint16_t& port : own) port = free_port();
    const bool written = ::write(channel[1], own.data(), sizeof own) == static_cast<ssize_t>(sizeof own);
    ::pause();  // what a program holds is given back when it ends
    ::_exit(written ? 0 : 1);
  }
  for (std::uint16_t& port : own) port = free_port();
  Ports others{};
  const ssize_t got = ::read(channel[0], others.data(), sizeof others);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(channel[0]);
  ::close(channel[1]);
  ASSERT_EQ(got, static_cast<ssize_t>(sizeof others));

  std::sort(own.begin(), own.end());
  std::sort(others.begin(), others.end());
  EXPECT_EQ(std::adjacent_find(own.begin(), own.end()), own.end()) << "a port was given twice";
  std::vector<std::uint16_t> shared;
  std::set_intersection(own.begin(), own.end(), others.begin(), others.end(), std::back_inserter(shared));
  EXPECT_EQ(shared, std::vector<std::uint16_t>{});
}

}  // namespace
}  // namespace nustream::tests
