// Time that stands still until somebody moves it. A program that links simulated_clock.cpp has no other steady clock,
// and whoever sleeps in it moves the time.
#pragma once

#include <chrono>

namespace nustream::tests {

/// Moves this program's steady clock on. Any thread may call it.
void pass_time(std::chrono::nanoseconds time);

}  // namespace nustream::tests
