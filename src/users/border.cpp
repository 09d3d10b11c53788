#include "nustream/users/border.h"

namespace nustream::users {

void take_times(std::span<const double> times, bool begins_step, WindowClock& clock, Changes& changes) {
  for (const double time : times) {
    if (clock.record(milliseconds_of(time), begins_step)) changes.begin_window();
    begins_step = false;
  }
}

}  // namespace nustream::users
