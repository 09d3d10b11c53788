#include "local_figure.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>

#include <fmt/format.h>

#include "local_draw.h"

namespace nustream::benchmarks {
namespace {

using namespace nustream::inference;

constexpr Delta delta{1e-5};

LocalNoise noise_of(std::size_t p, double epsilon, bool papers) {
  LocalBounds bounds{.dimension = p, .l1 = 1};
  if (!papers) bounds.l2 = 1 / std::sqrt(static_cast<double>(p));
  const LocalBudget budget{Epsilon{epsilon}, delta, papers ? LocalCalibration::paper : LocalCalibration::exact,
                           papers ? LocalNorm::paper : LocalNorm::l2, 0.5};
  return LocalMechanism(bounds, budget).noise();
}

struct Errors {
  std::vector<double> relative;
  std::size_t indefinite = 0;
};

/// All noises of a repetition see the same records and the same noise, scaled.
std::vector<Errors> errors_at(const LocalDesign& design, double n, const std::vector<LocalNoise>& noises,
                              std::size_t repetitions) {
  std::vector<Errors> errors(noises.size());
  for (std::size_t repetition = 0; repetition < repetitions; ++repetition) {
    std::seed_seq seeds{std::uint64_t{design.p}, static_cast<std::uint64_t>(n), std::uint64_t{repetition}};
    std::mt19937_64 random(seeds);
    LocalDraw draw(design);
    draw_records(design, n, random, draw);
    draw_sum_of_noise(n, random, draw);
    for (std::size_t i = 0; i < noises.size(); ++i) {
      const LocalEstimate estimate = solve_local(moments(design, draw, n, 0, noises[i]), noises[i],
                                                 {.x = design.x, .weights = draw.public_counts},
                                                 {.family = GlmFamily::logistic, .repair = LocalRepair::none});
      errors[i].relative.push_back(relative_error(design, estimate));
      errors[i].indefinite += estimate.spectrum.definite ? 0U : 1U;
    }
  }
  return errors;
}

struct MeanFound {
  double value;
  double standard_error;
};

MeanFound mean_of(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / (count - 1) / count)};
}

/// What both figures say of one setting, behind the fields that name it.
std::string of_errors(const std::vector<double>& errors, std::size_t indefinite) {
  const MeanFound mean = mean_of(errors);
  const Median middle = median(errors);
  return fmt::format(
      "\"average\": {{\"mean\": {:.6g}, \"standard_error\": {:.3g}}}, \"median\": {:.6g}, \"standard_error\": "
      "{:.3g}, "
      "\"indefinite\": {}, \"repetitions\": {}}}",
      mean.value, mean.standard_error, middle.value, middle.standard_error, indefinite, errors.size());
}

void append(const std::string& row, std::string& rows) {
  rows += (rows.empty() ? "\n  " : ",\n  ") + row;
}

DrawnFigure as_drawn(std::size_t repetitions) {
  const LocalDesign design(10);
  const std::vector<double> epsilons{10, 5, 3, 2};
  std::vector<LocalNoise> noises;
  for (const double epsilon : epsilons) noises.push_back(noise_of(10, epsilon, true));
  std::string rows;
  std::vector<Series> shown;
  for (const double epsilon : epsilons) shown.push_back({fmt::format("epsilon {}", epsilon), {}});
  for (int at = 1; at <= 29; at += 2) {
    const double n = 1e4 * at;
    const std::vector<Errors> found = errors_at(design, n, noises, repetitions);
    for (std::size_t i = 0; i < found.size(); ++i) {
      std::vector<double> squared;
      for (const double error : found[i].relative) squared.push_back(error * error);
      append(fmt::format("{{\"epsilon\": {}, \"n\": {}, ", epsilons[i], n) + of_errors(squared, found[i].indefinite),
             rows);
      const MeanFound mean = mean_of(squared);
      shown[i].points.push_back({n, mean.value, std::min(mean.standard_error, 0.9 * mean.value)});
    }
  }
  return {
      "as_drawn",
      fmt::format("{{\"figure\": \"1a as drawn\", \"p\": 10, \"delta\": {}, \"rows\": [{}]}}\n", delta.value(), rows),
      line_chart("Local logistic model, the paper's n and constants", {"reports n", true},
                 {"mean squared relative error", true}, std::move(shown))};
}

DrawnFigure dimension(std::size_t repetitions) {
  std::string rows;
  std::vector<Series> shown{{"n = 480,000", {}}, {"n = 10^8", {}}, {"n = 10^9", {}}};
  for (const std::size_t p : {5U, 10U, 12U, 15U}) {
    const LocalDesign design(p);
    const std::vector<LocalNoise> noises{noise_of(p, 10, true), noise_of(p, 10, false)};
    const std::vector<const char*> names{"paper's constants", "exact, l2"};
    for (const double n : {1e5, 3e5, 4.8e5, 1e8, 1e9}) {
      const std::vector<Errors> found = errors_at(design, n, noises, repetitions);
      for (std::size_t i = 0; i < found.size(); ++i) {
        append(fmt::format("{{\"mechanism\": \"{}\", \"p\": {}, \"n\": {}, ", names[i], p, n) +
                   of_errors(found[i].relative, found[i].indefinite),
               rows);
      }
      if (n < 4e5) continue;
      const Median middle = median(found[0].relative);
      shown[n == 1e9   ? 2
            : n == 1e8 ? 1
                       : 0]
          .points.push_back(
              {static_cast<double>(p), middle.value, std::min(middle.standard_error, 0.9 * middle.value)});
    }
  }
  return {
      "dimension",
      fmt::format("{{\"figure\": \"1b\", \"epsilon\": 10, \"delta\": {}, \"rows\": [{}]}}\n", delta.value(), rows),
      line_chart("Local logistic model against the dimension, epsilon 10, the paper's constants", {"p"},
                 {"median relative error", true}, std::move(shown))};
}

/// How far two estimates are apart, ‖a − b‖∞/‖w*‖∞.
double apart(const LocalDesign& design, const LocalEstimate& one, const LocalEstimate& other) {
  double largest = 0;
  for (std::size_t j = 0; j < one.model->size(); ++j) {
    largest = std::max(largest, std::abs((*one.model)[j] - (*other.model)[j]));
  }
  return largest / design.coefficient;
}

/// What m public rows do to the estimate of the same reports, of each repetition.
struct FewerRows {
  std::vector<double> relative;  ///< its error
  std::vector<double> moved;     ///< its distance from that with as many public rows as reports
};

FewerRows fewer_rows(const LocalDesign& design, double n, double m, const LocalNoise& noise,
                     std::size_t repetitions) {
  FewerRows found;
  for (std::size_t repetition = 0; repetition < repetitions; ++repetition) {
    std::seed_seq seeds{std::uint64_t{10}, static_cast<std::uint64_t>(m), std::uint64_t{repetition}};
    std::mt19937_64 random(seeds);
    LocalDraw draw(design);
    draw_records(design, n, random, draw);
    draw_sum_of_noise(n, random, draw);
    const auto solved = [&] {
      return solve_local(moments(design, draw, n, 0, noise), noise, {.x = design.x, .weights = draw.public_counts},
                         {.family = GlmFamily::logistic, .repair = LocalRepair::none});
    };
    const LocalEstimate with_many = solved();
    draw_public_rows(design, m, random, draw);
    const LocalEstimate with_few = solved();
    found.relative.push_back(relative_error(design, with_few));
    found.moved.push_back(apart(design, with_few, with_many));
  }
  return found;
}

}  // namespace

DrawnFigure figure_of_public_rows(std::size_t asked) {
  const std::size_t repetitions = asked == 0 ? 100 : asked;
  const LocalDesign design(10);
  constexpr double n = 1e9;
  std::string rows;
  std::string points;
  Series errors{"relative error", {}};
  Series distances{"from the estimate with 10^9 public rows", {}};
  for (const double m : {1e2, 1e3, 1e4, 1e5, 1e6, 1e7}) {
    const FewerRows found = fewer_rows(design, n, m, noise_of(10, 10, false), repetitions);
    const Median error = median(found.relative);
    const Median moved = median(found.moved);
    append(fmt::format("{{\"m\": {:.0f}, \"error\": {{\"median\": {:.6g}, \"standard_error\": {:.3g}}}, \"moved\": "
                       "{{\"median\": {:.6g}, \"standard_error\": {:.3g}}}, \"repetitions\": {}}}",
                       m, error.value, error.standard_error, moved.value, moved.standard_error, repetitions),
           rows);
    points +=
        fmt::format("{}[{:.0f}, {:.6g}, {:.3g}]", points.empty() ? "" : ", ", m, moved.value, moved.standard_error);
    errors.points.push_back({m, error.value, error.standard_error});
    distances.points.push_back({m, moved.value, moved.standard_error});
  }
  return {"public_rows",
          fmt::format("{{\"figure\": \"the term in m\", \"epsilon\": 10, \"delta\": {}, \"p\": 10, \"n\": {:.0f}, "
                      "\"moved\": [{}], \"rows\": [{}]}}\n",
                      delta.value(), n, points, rows),
          line_chart("Local logistic model against the public rows, n = 10^9, epsilon 10", {"public rows m", true},
                     {"median", true}, {std::move(errors), std::move(distances)})};
}

std::vector<DrawnFigure> figures_as_drawn(std::size_t repetitions) {
  return {as_drawn(repetitions == 0 ? 1000 : repetitions), dimension(repetitions == 0 ? 100 : repetitions),
          figure_of_public_rows(repetitions)};
}

}  // namespace nustream::benchmarks
