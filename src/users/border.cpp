// The clock is asked once for each record, and the table is emptied at a border before any record of the step is
// gated.
#include "nustream/users/border.h"

namespace nustream::users {

std::size_t take_times(std::span<const double> times, bool begins_step, WindowClock& clock, Changes& changes) {
  std::size_t within = 0;
  for (const double time : times) {
    if (clock.record(milliseconds_of(time), begins_step)) changes.begin_window();
    begins_step = false;
    if (!clock.is_behind_border()) ++within;  // the clock never goes back: they are the first ones
  }
  return within;
}

}  // namespace nustream::users
