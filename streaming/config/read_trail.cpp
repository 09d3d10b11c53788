// Decides which iterates of a descent are kept for its status. They cost nothing, but a state holds up to 127 of
// them, and so they are not kept of models with very many coefficients.
#include <optional>

#include "config/advice.h"
#include "config/read_sections.h"

namespace nustream::config {
namespace {

// A trail of so many coefficients has 130 kB, and a topic takes states of a megabyte unless it is told otherwise.
constexpr std::size_t most_coefficients = 128;

}  // namespace

void read_trail(const Section& release, Purpose purpose, Config& config) {
  lane::Settings& descent = config.descent;
  descent.overshoots = surely_overshoots(config);
  // Of a table all iterates are released, and judged at the end (estimate/path.cpp).
  if (purpose == Purpose::table) return;
  const std::optional<bool> asked = release.flag("status");
  // Under a cooldown the last iterates vary less than those before, which a test takes for something else.
  const bool is_kept = !descent.schedule.cools_down() && descent.dimension <= most_coefficients;
  if (asked.value_or(false) && !is_kept && !descent.batching) {
    release.refuse("status",
                   "true with descent.average = \"tail\", or of at most 128 coefficients without descent.cooldown");
  }
  if (!is_kept) return;
  const bool is_tail = descent.averaging.kind == descent::Averaging::Kind::tail;
  descent.trail = descent::TrailSettings{is_tail ? descent.averaging.from : 0, asked.value_or(true)};
  // Intervals of batch means have a status whatever is asked for.
  if (descent.batching && descent.batching->shown) descent.trail->shown = true;
}

}  // namespace nustream::config
