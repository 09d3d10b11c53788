// Fits a Toeplitz encoder to prefix sums, with as many coefficients as bands are asked for. Where participations meet
// within the bands, only falling columns are searched, since the sensitivity of others is not known.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/privacy/optimised.h"
#include "prefix_sums.h"
#include "quasi_newton.h"

namespace nustream::privacy {
namespace {

/// Each evaluation takes O(T · bands). Beyond this bound a fit would take minutes.
constexpr double most_work = 2147483648.0;  // T · bands
constexpr optimised::Patience patience{1e-13, 400};

struct Fit {
  std::vector<double> c;
  double loss;
};

/// The column of ν-FTRL with ν = 0, cut to `bands` entries. For the largest error and one participation of T bands
/// it is the optimum itself, so it is where every search starts.
std::vector<double> prefix_sum_column(std::size_t bands) {
  return noise::strategy_coefficients(noise::Correlation{noise::NuFtrl{Damping{0}, StepCount{bands}}}, bands);
}

/// The best column with as many entries as `start`. Only falling columns are searched where participations meet.
Fit fit(const PrefixSums& problem, std::vector<double> start) {
  const bool meeting =
      problem.participation.times_within(problem.horizon) > 1 && start.size() > problem.participation.separation();
  optimised::ToeplitzLoss loss(problem);
  const optimised::Objective objective = [&](std::span<const double> x, std::span<double> gradient) {
    return loss(x, gradient);
  };
  // c_0 = 1 is fixed and no variable of the search.
  start.erase(start.begin());
  optimised::Minimum best = meeting ? optimised::minimise_falling(objective, std::move(start), patience)
                                    : optimised::minimise(objective, std::move(start), patience);
  best.x.insert(best.x.begin(), 1.0);
  return {std::move(best.x), best.value};
}

void check_work(const PrefixSums& problem, std::size_t bands) {
  const double work = static_cast<double>(problem.horizon.value()) * static_cast<double>(bands);
  if (work > most_work) {
    throw Unsupported("fitting " + std::to_string(bands) + " coefficients to " +
                      std::to_string(problem.horizon.value()) +
                      " steps would take minutes: ask for fewer bands, or for poles");
  }
}

}  // namespace

noise::Correlation optimised_toeplitz(const PrefixSums& problem, std::optional<std::size_t> bands) {
  const std::uint64_t horizon = problem.horizon.value();
  if (horizon == 0) throw InvalidParameter("horizon", "0", "at least 1 step");
  if (bands && (*bands == 0 || *bands > horizon)) {
    throw InvalidParameter("bands", std::to_string(*bands), "1 ... horizon");
  }
  const auto result = [&](const Fit& best) { return noise::Correlation{noise::Strategy{best.c, problem.horizon}}; };
  const auto most = static_cast<std::size_t>(bands.value_or(horizon));
  check_work(problem, most);
  const Fit wide = fit(problem, prefix_sum_column(most));
  const std::uint64_t separation = problem.participation.separation();
  if (problem.participation.times_within(problem.horizon) == 1 || most <= separation) return result(wide);
  // A fit with b bands need not fall, as no two participations meet within it, so neither set of columns contains
  // the other and both fits are made. Where they are equally good, the narrow one is taken: its noise is cheaper.
  const Fit narrow = fit(problem, prefix_sum_column(static_cast<std::size_t>(separation)));
  return result(narrow.loss <= wide.loss * (1 + 1e-9) ? narrow : wide);
}

}  // namespace nustream::privacy
