// Predicts what limits on users cost, from a population of users in equally likely or weighted nodes: their numbers
// of records, their own effects, and the lengths of their visits. Each kind of user counts with a weight that limits
// and bounds leave it, and errors follow from sums over the population.
#include "nustream/inference/limits_cost.h"

#include <boost/math/distributions/normal.hpp>
#include <boost/math/special_functions/beta.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "nustream/base/error.h"

namespace nustream::inference {
namespace {

constexpr int size_nodes = 25;    // numbers of records of a user
constexpr int effect_nodes = 16;  // effects of a user
constexpr int visit_nodes = 16;   // lengths of a visit

/// Equally likely values of an exponential distribution, scaled to the mean 1.
std::vector<double> exponential_nodes(int count) {
  std::vector<double> nodes;
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    nodes.push_back(-std::log1p(-(i + 0.5) / count));
    sum += nodes.back();
  }
  for (double& node : nodes) node *= count / sum;
  return nodes;
}

/// Equally likely effects with mean 0 and this standard deviation.
std::vector<double> effects_of(double deviation) {
  if (deviation == 0) return {0};
  std::vector<double> effects = exponential_nodes(effect_nodes);
  double squares = 0;
  for (double& effect : effects) {
    effect -= 1;
    squares += effect * effect;
  }
  for (double& effect : effects) effect *= deviation / std::sqrt(squares / effect_nodes);
  return effects;
}

/// Users with one number of records.
struct Size {
  double likely;
  double records;
  double visits = 1;              ///< steps in which such a user has records
  std::vector<double> lengths{};  ///< equally likely numbers of records in one of them
};

/// Lengths of a visit, in equally likely nodes.
std::vector<double> visit_lengths(const UserGuess& guess, double minibatch) {
  if (guess.burst == 1) return {1};
  std::vector<double> lengths = exponential_nodes(visit_nodes);
  for (double& length : lengths) length = std::min(1 + (guess.burst - 1) * length, minibatch);
  return lengths;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// The population. Visits at random steps may meet in one: n of them touch T(1 − (1 − 1/T)^n) of T steps.
std::vector<Size> sizes_of(const UserGuess& guess, const UserCourse& course) {
  const double most = guess.users > 1 ? boost::math::quantile(boost::math::normal(), 1 - 1 / (2 * guess.users)) : 0.0;
  const std::vector<double> lengths = visit_lengths(guess, course.minibatch);
  const double length = mean_of(lengths);
  std::vector<Size> sizes;
  double likely = 0;
  double records = 0;
  for (int i = 0; i < size_nodes; ++i) {
    const double z = most * (2.0 * i / (size_nodes - 1) - 1);
    // Nodes at equal distances of z, weighted by the normal density; the mean is brought to `records` below.
    sizes.push_back({std::exp(-z * z / 2), std::exp(guess.spread * z)});
    likely += sizes.back().likely;
    records += sizes.back().likely * sizes.back().records;
  }
  for (Size& size : sizes) {
    size.records *= guess.records * likely / records;
    size.likely /= likely;
    const double visits = std::max(1.0, size.records / length);
    const double steps = course.steps;
    size.visits = steps > 1 ? std::max(1.0, -steps * std::expm1(visits * std::log1p(-1 / steps))) : 1;
    // Visits that meet in a step are one contribution there, so the lengths grow until they add up to all records.
    for (const double each : lengths) size.lengths.push_back(each / length * size.records / size.visits);
  }
  return sizes;
}

/// A user's contribution to a step, in the mean over its length.
struct Contribution {
  double weight;   ///< records, each by how much of it the bound lets in
  double squares;  ///< the same, squared
  double norm;     ///< in units of the bound
};

/// How users of one size and one effect count.
struct Weight {
  double likely;
  double records;      ///< n
  double effect;       ///< δ
  double whole = 0;    ///< weight over all steps
  double quoted = 0;   ///< weight from step `from` on, per share of the steps
  double scatter = 0;  ///< variance of `quoted`, from when visits come and which of them count
};

class Population {
 public:
  Population(const UserGuess& guess, const StepBound& bound, const UserCourse& course, const users::Limits& limits)
      : guess_(guess), bound_(bound), course_(course), limits_(limits), sizes_(sizes_of(guess, course)) {}

  /// The weights where the answer is off by θ.
  [[nodiscard]] std::vector<Weight> weights(double off) const {
    const std::vector<double> effects = effects_of(guess_.deviation);
    std::vector<Weight> weights;
    for (const Size& size : sizes_) {
      for (const double effect : effects) {
        weights.push_back({size.likely / static_cast<double>(effects.size()), size.records, effect});
        count(size, contribution(size, effect, off), weights.back());
      }
    }
    return weights;
  }

 private:
  [[nodiscard]] double norm(double length, double effect, double off) const {
    // σ_ε²: what is independent from record to record.
    const double own = guess_.residual * guess_.residual - guess_.deviation * guess_.deviation;
    const double residuals = length * guess_.dimension * std::max(0.0, own);
    if (const auto* gradient = std::get_if<GradientBound>(&bound_)) {
      return std::sqrt(length * length * (effect - off) * (effect - off) + residuals) / gradient->clip;
    }
    const auto& sums = std::get<SumsBound>(bound_);
    const double about = guess_.distance * guess_.distance + effect * effect;
    // Both blocks are shortened together, so the longer one of them, in units of its bound, decides.
    return std::max(length * guess_.dimension / (sums.inputs * sums.inputs),
                    std::sqrt(length * length * about + residuals) / (sums.inputs * sums.target));
  }

  [[nodiscard]] Contribution contribution(const Size& size, double effect, double off) const {
    Contribution mean{0, 0, 0};
    for (const double length : size.lengths) {
      const double long_as = norm(length, effect, off);
      const double weight = long_as > 1 ? length / long_as : length;
      mean.weight += weight;
      mean.squares += weight * weight;
      // A mass is used up by norms as they count, so a shortened contribution uses up 1.
      mean.norm += std::min(1.0, long_as);
    }
    const auto count = static_cast<double>(size.lengths.size());
    return {mean.weight / count, mean.squares / count, mean.norm / count};
  }

  /// Of visits at random times, those that may count are b − 1 steps and a waiting time apart; then the first k or
  /// W/norm of them count.
  void count(const Size& size, const Contribution& one, Weight& weight) const {
    double may = size.visits;
    double most = std::numeric_limits<double>::infinity();
    if (const auto& participation = limits_.participation()) {
      const double apart = static_cast<double>(participation->separation() - 1);
      may = std::max(1.0, may / (1 + apart * may / course_.steps));
      most = static_cast<double>(participation->times());
    }
    if (limits_.mass() && one.norm > 0) most = std::min(most, limits_.mass()->value() / one.norm);
    const double before = course_.from / course_.steps;
    const double all = counted_visits(may, most, 1);
    const double late = all - counted_visits(may, most, before);
    weight.whole = one.weight * all;
    weight.quoted = one.weight * late / (1 - before);
    // Which of the visits that count are late is a binomial choice, and which visits count at all another one.
    const double number = late * (1 - late / all) * one.weight * one.weight;
    const double lengths = std::max(0.0, late * (1 - late / size.visits) * (one.squares - one.weight * one.weight));
    weight.scatter = (number + lengths) / ((1 - before) * (1 - before));
  }

  const UserGuess& guess_;
  const StepBound& bound_;
  const UserCourse& course_;
  const users::Limits& limits_;
  std::vector<Size> sizes_;
};

/// Sums over the population, for one user in the mean.
struct Totals {
  double records = 0;
  double whole = 0;
  double quoted = 0;
  double effect = 0;  ///< Σ w δ/Σ w
};

Totals totals_of(const std::vector<Weight>& weights) {
  Totals totals;
  for (const Weight& one : weights) {
    totals.records += one.likely * one.records;
    totals.whole += one.likely * one.whole;
    totals.quoted += one.likely * one.quoted;
    totals.effect += one.likely * one.quoted * one.effect;
  }
  totals.effect /= totals.quoted;
  return totals;
}

/// The standard deviation of the difference between the answers of the weighted and of all records.
double between_users(const std::vector<Weight>& weights, const Totals& totals, double off, double users) {
  double variance = 0;
  for (const Weight& one : weights) {
    const double gap = one.effect - off;
    const double apart = one.quoted * gap / totals.quoted - one.records * one.effect / totals.records;
    variance += one.likely * (apart * apart + one.scatter * gap * gap / (totals.quoted * totals.quoted));
  }
  return std::sqrt(variance / users);
}

/// The share of the start that is left, where a step moves the iterate by η times the share that counts in it.
double start_left(const UserCourse& course, double early, double quoted) {
  const auto decay = [&](double share) { return -std::log1p(-std::min(course.step_size * share, 1 - 1e-12)); };
  const double before = std::exp(-course.from * decay(early));
  const double within = (course.steps - course.from) * decay(quoted);
  if (!course.averages) return before * std::exp(-within);
  return within > 0 ? before * -std::expm1(-within) / within : before;
}

void require(const char* name, double value, bool allowed, const char* what) {
  if (!allowed) throw InvalidParameter(name, std::to_string(value), what);
}

void check(const UserGuess& guess, const UserCourse& course) {
  require("users", guess.users, guess.users >= 1, "at least 1");
  require("records of a user", guess.records, guess.records >= 1, "at least 1");
  require("burst", guess.burst, guess.burst >= 1, "at least 1");
  require("spread", guess.spread, guess.spread >= 0 && guess.spread <= 5, "a number from 0 to 5");
  require("residual", guess.residual, guess.residual > 0, "a number > 0");
  require("deviation", guess.deviation, guess.deviation >= 0 && guess.deviation <= guess.residual,
          "a number from 0 to the residual");
  require("distance", guess.distance, guess.distance >= 0, "a number of at least 0");
  require("steps", course.steps, course.steps >= 1, "at least 1");
  require("from", course.from, course.from >= 0 && course.from < course.steps, "less than the steps");
}

}  // namespace

double LimitsCost::root() const noexcept {
  return std::sqrt(shift * shift + between * between + sampling * sampling + start * start);
}

// A visit at the share f of the time counts if fewer than k of the other n − 1 come before it, which has the
// probability 1 − I_f(k, n − k) (binomial tail). Its integral over f is the mean number, divided by n.
double counted_visits(double visits, double most, double until) {
  if (until <= 0) return 0;
  if (visits <= most || until >= 1) return std::min(visits, most) * std::min(until, 1.0);
  const double left = visits - most;
  return visits * until * boost::math::ibetac(most, left, until) + most * boost::math::ibeta(most + 1, left, until);
}

double long_visit(const UserGuess& guess, double minibatch) {
  return guess.burst == 1 ? 1 : std::min(5 * guess.burst, minibatch);
}

LimitsCost limits_cost(const UserGuess& guess, const StepBound& bound, const UserCourse& course,
                       const users::Limits& limits) {
  check(guess, course);
  const Population population(guess, bound, course, limits);
  // The weights of sums do not depend on the answer; those of a descent settle within a few rounds.
  double off = 0;
  std::vector<Weight> weights = population.weights(off);
  Totals totals = totals_of(weights);
  constexpr int rounds_most = 50;
  for (int i = 0; i < rounds_most && std::abs(totals.effect - off) > 1e-4 * guess.residual; ++i) {
    off = totals.effect;
    if (std::holds_alternative<SumsBound>(bound)) break;
    weights = population.weights(off);
    totals = totals_of(weights);
  }
  const double own = guess.residual * guess.residual - guess.deviation * guess.deviation;
  const double before = course.from / course.steps;
  const double records = guess.users * totals.quoted * (1 - before);
  LimitsCost cost{.kept = totals.whole / totals.records,
                  .quoted = totals.quoted / totals.records,
                  .shift = std::abs(totals.effect),
                  .between = between_users(weights, totals, totals.effect, guess.users),
                  .sampling = std::sqrt(std::max(0.0, own * (1 / records - 1 / (guess.users * guess.records)))),
                  .start = 0};
  if (std::holds_alternative<GradientBound>(bound)) {
    // The share of records that count before the average begins: with a limit on times it is larger than later on.
    const double early =
        before > 0 ? (totals.whole - totals.quoted * (1 - before)) / before / totals.records : cost.quoted;
    cost.start = guess.distance / std::sqrt(guess.dimension) * start_left(course, early, cost.quoted);
  }
  return cost;
}

}  // namespace nustream::inference
