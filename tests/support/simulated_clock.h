// Time that stands still until somebody moves it. A program that links simulated_clock.cpp has no other steady clock,
// and whoever sleeps in it moves the time.
#pragma once

#include <chrono>

namespace nustream::tests {

/// Moves the steady clock of this program on. Any thread.
void pass_time(std::chrono::nanoseconds time);

}  // namespace nustream::tests
