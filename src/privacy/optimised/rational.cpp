// Fits a rational correlation to prefix sums: checks what is asked for, and starts the search of poles.h from several
// places.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/privacy/optimised.h"
#include "poles.h"
#include "rational_loss.h"

namespace nustream::privacy {
namespace {

/// One evaluation of the loss goes through all participations one by one (rational_loss.h).
constexpr std::uint64_t most_participations = 4096;

}  // namespace

noise::Correlation optimised_rational(const PrefixSums& problem, std::size_t poles) {
  if (problem.horizon.value() == 0) throw InvalidParameter("horizon", "0", "at least 1 step");
  if (poles == 0 || poles > optimised::most_poles) {
    throw InvalidParameter("poles", std::to_string(poles), "1 ... " + std::to_string(optimised::most_poles));
  }
  if (problem.participation.times_within(problem.horizon) > most_participations) {
    throw Unsupported("a rational fit to more than " + std::to_string(most_participations) +
                      " participations would take minutes: fit to fewer, or ask for bands");
  }
  // The slowest pole of a fit to T steps is about 1 − 1/T. A search from above and one from below can end in
  // different valleys, so all are tried.
  std::vector<std::vector<double>> starts;
  for (const double numerator : {0.1, 1.0, 6.0}) {
    const double lowest = std::min(0.3, numerator / static_cast<double>(problem.horizon.value()));
    starts.push_back(optimised::geometric_gaps(poles, lowest));
  }
  return noise::Correlation{optimised::best_poles(optimised::RationalLoss(problem), poles, starts), problem.horizon};
}

}  // namespace nustream::privacy
