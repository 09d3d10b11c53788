// Predicts from public guesses of what users do how far the limits of a user keep an answer from that of all records,
// beside the privacy noise. A plan compares limits by it. Notation: docs/notation.md.
#pragma once

#include <variant>

#include "nustream/users/limits.h"

namespace nustream::inference {

/// Public guesses of a population of users, in working coordinates of a linear model whose features have the second
/// moment 1 in each direction. Nothing here is read from data.
///
/// - A user's number of records is lognormal with mean `records`; of that many users only quantiles from 1/(2·users)
///   to 1 − 1/(2·users) occur.
/// - A user's records come in visits, whose length is geometric with mean `burst`, at uniform times.
/// - y = xᵀθ* + δ + ε: the user's own δ has mean 0 and standard deviation `deviation`. It is skewed as an exponential
///   distribution is, and independent of how many records the user has. ε is independent from record to record, and
///   δ + ε has the standard deviation `residual`.
struct UserGuess {
  double users;
  double records;    ///< of a user, in the mean
  double burst;      ///< mean length of a visit
  double spread;     ///< standard deviation of the logarithm of a user's number of records
  double residual;   ///< > 0
  double deviation;  ///< at most `residual`
  double distance;   ///< ‖θ* − start‖, or for running sums the distance of θ* from the centre
  double dimension;
};

/// A step's bound of a user's summed gradients.
struct GradientBound {
  double clip;  ///< G
};
/// A step's bounds of a user's sums of xxᵀ (R_x²) and r·x (R_x·R_r), which are shortened together.
struct SumsBound {
  double inputs;  ///< R_x
  double target;  ///< R_r
};
using StepBound = std::variant<GradientBound, SumsBound>;

/// The steps of a stream, and which of them the answer is about.
struct UserCourse {
  double steps;
  double minibatch;      ///< records of a step
  double from = 0;       ///< of a descent: steps before the average begins, < steps; 0 for sums
  double step_size = 0;  ///< of a descent
  bool averages = true;  ///< of a descent: the answer is the average from there, and not the last iterate
};

/// What limits cost. The errors are those of one coefficient, root mean squares.
struct LimitsCost {
  double kept;      ///< share of the records that count, as weights
  double quoted;    ///< the same share from step `from` on
  double shift;     ///< limits of norms cut users off who are far from the model, and more of them on one side
  double between;   ///< the users who count, and how much each of them does, are others than of all records
  double sampling;  ///< the records that do not count have other residuals
  double start;     ///< what is left of the start: few contributions move the iterate slowly
  [[nodiscard]] double root() const noexcept;
};

/// Predicts this cost. A contribution of s records has the norm √(s²(δ − θ)² + s·d·σ_ε²) in a descent whose answer is
/// off by θ, and as much about the centre in sums. Bounds and mass shorten it, so that user u counts with the weight
/// w_u(δ). Then θ is the root of E w(δ)(δ − θ) = 0 (shift), and the variance between users is that of the difference
/// Σ_u w_u(δ_u − θ)/Σw − Σ_u n_u δ_u/Σn of the answers of the weighted and of all records. Where weights do not
/// depend on δ, this is deviation²·Σ_u (w_u/Σw − n_u/Σn)²: the variance of clustered samples.
///
/// Limits within windows count as if there were one window. Throws InvalidParameter where a guess is out of range.
[[nodiscard]] LimitsCost limits_cost(const UserGuess& guess, const StepBound& bound, const UserCourse& course,
                                     const users::Limits& limits);

/// Of `visits` ≥ 1 visits at uniform times, of which the first `most` > 0 count: the mean number that counts until
/// the share `until` of the time. Neither number needs to be whole.
[[nodiscard]] double counted_visits(double visits, double most, double until);

/// A length that few visits exceed: five times the mean. Of geometric visits 1 in 150 is longer, with 4% of the
/// records. No step holds more than a minibatch.
[[nodiscard]] double long_visit(const UserGuess& guess, double minibatch);

}  // namespace nustream::inference
