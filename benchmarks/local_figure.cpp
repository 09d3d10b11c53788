#include "local_figure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <span>

#include <fmt/format.h>

#include "nustream/inference/local_mechanism.h"
#include "nustream/inference/local_solver.h"
#include "nustream/noise/gaussian.h"

namespace nustream::benchmarks {
namespace {

using namespace nustream::inference;

constexpr std::size_t p = 10;
constexpr std::size_t kinds = std::size_t{1} << p;
constexpr std::size_t triangle = p * (p + 1) / 2;
const double coefficient = 1 / std::sqrt(double{p});  // of w*
constexpr Delta delta{1e-5};

/// How users make noise.
struct Mechanism {
  const char* name;
  LocalBounds bounds;
  LocalCalibration calibration;
  LocalNorm norm;
};

std::vector<Mechanism> mechanisms() {
  const LocalBounds l1{.dimension = p, .l1 = 1};
  LocalBounds l2 = l1;
  l2.l2 = 1 / std::sqrt(double{p});
  LocalBounds centred = l2;
  centred.label_centre = 0.5;
  return {{"paper's constants", l1, LocalCalibration::paper, LocalNorm::paper},
          {"exact, 2r² and 2rY", l1, LocalCalibration::exact, LocalNorm::paper},
          {"exact, l1", l1, LocalCalibration::exact, LocalNorm::l1},
          {"exact, l2", l2, LocalCalibration::exact, LocalNorm::l2},
          {"exact, l2, y − ½", centred, LocalCalibration::exact, LocalNorm::l2}};
}

/// All records that there are, row-major kinds × p.
std::vector<double> all_kinds() {
  std::vector<double> x(kinds * p);
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    for (std::size_t j = 0; j < p; ++j) x[kind * p + j] = (kind >> j & 1 ? 1.0 : -1.0) / p;
  }
  return x;
}

/// How often each kind occurs among n records.
std::vector<double> multinomial(double n, std::mt19937_64& random) {
  std::vector<double> counts(kinds);
  auto left = static_cast<std::int64_t>(n);
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    const double share = 1.0 / static_cast<double>(kinds - kind);
    const std::int64_t count = share == 1 ? left : std::binomial_distribution<std::int64_t>(left, share)(random);
    counts[kind] = static_cast<double>(count);
    left -= count;
  }
  return counts;
}

/// What the users of one repetition hold, and the noise that they add, of standard deviation 1.
struct Draw {
  std::array<double, p * p> second_moment{};
  std::array<double, p> sum{};           ///< sum of x
  std::array<double, p> cross_moment{};  ///< sum of x y
  std::array<double, triangle + p> noise{};
  std::vector<double> public_counts;
};

void draw_records(double n, const std::vector<double>& x, std::mt19937_64& random, Draw& draw) {
  const std::vector<double> counts = multinomial(n, random);
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    const std::span<const double> row(x.data() + kind * p, p);
    double prediction = 0;
    for (const double entry : row) prediction += entry * coefficient;
    const std::binomial_distribution<std::int64_t> labels(static_cast<std::int64_t>(counts[kind]),
                                                          1 / (1 + std::exp(-prediction)));
    const auto ones = static_cast<double>(std::binomial_distribution<std::int64_t>(labels.param())(random));
    for (std::size_t i = 0; i < p; ++i) {
      for (std::size_t j = 0; j < p; ++j) draw.second_moment[i * p + j] += counts[kind] * row[i] * row[j];
      draw.sum[i] += counts[kind] * row[i];
      draw.cross_moment[i] += ones * row[i];
    }
  }
  draw.public_counts = multinomial(n, random);
}

/// Draws the noise report by report.
void draw_noise(std::uint64_t reports, std::mt19937_64& random, Draw& draw) {
  constexpr std::size_t numbers = triangle + p;
  constexpr std::size_t batch = numbers * noise::gaussian_chunk;  // whole reports and whole chunks
  std::vector<std::uint64_t> words(batch);
  std::vector<double> samples(batch);
  for (std::uint64_t done = 0; done < reports; done += noise::gaussian_chunk) {
    for (std::uint64_t& word : words) word = random();
    noise::fill_gaussian(words, samples);
    const std::uint64_t rows = std::min<std::uint64_t>(noise::gaussian_chunk, reports - done);
    for (std::uint64_t row = 0; row < rows; ++row) {
      for (std::size_t i = 0; i < numbers; ++i) draw.noise[i] += samples[row * numbers + i];
    }
  }
}

void draw_sum_of_noise(double n, std::mt19937_64& random, Draw& draw) {
  std::normal_distribution<double> normal(0, std::sqrt(n));
  for (double& entry : draw.noise) entry = normal(random);
}

LocalMoments moments(const Draw& draw, double n, const Mechanism& mechanism, const LocalNoise& noise) {
  LocalMoments result{static_cast<std::uint64_t>(n), std::vector<double>(p * p), std::vector<double>(p)};
  std::size_t at = 0;
  for (std::size_t i = 0; i < p; ++i) {
    for (std::size_t j = i; j < p; ++j) {
      const double value = (draw.second_moment[i * p + j] + noise.second_moment.value() * draw.noise[at++]) / n;
      result.second_moment[i * p + j] = result.second_moment[j * p + i] = value;
    }
  }
  for (std::size_t j = 0; j < p; ++j) {
    const double signal = draw.cross_moment[j] - mechanism.bounds.label_centre * draw.sum[j];
    result.cross_moment[j] = (signal + noise.cross_moment.value() * draw.noise[at++]) / n;
  }
  return result;
}

double squared_relative_error(const LocalEstimate& estimate) {
  double largest = 0;
  for (const double slope : estimate.ols) {
    largest = std::max(largest, std::fabs(slope * estimate.scale->c - coefficient));
  }
  return largest * largest / (coefficient * coefficient);
}

struct Median {
  double value;
  double standard_error;  ///< from the order statistics one standard deviation of the rank away
};

Median median(std::vector<double> values) {
  std::ranges::sort(values);
  const auto n = static_cast<double>(values.size());
  const auto at = [&](double rank) {
    return values[static_cast<std::size_t>(std::clamp(std::round(rank), 0.0, n - 1))];
  };
  const double middle = (n - 1) / 2;
  const double spread = std::sqrt(n) / 2;
  return {(at(std::floor(middle)) + at(std::ceil(middle))) / 2, (at(middle + spread) - at(middle - spread)) / 2};
}

/// One mechanism at one ε under one repair, over all n.
struct Setting {
  std::size_t mechanism;
  double epsilon;
  LocalRepair repair;
  LocalNoise noise;
  double reports_needed = 0;
  std::vector<std::vector<double>> errors;  ///< for each n
  std::vector<std::size_t> indefinite;
  std::vector<std::size_t> no_scale;
};

std::vector<Setting> all_settings(const LocalFigure& figure, const std::vector<Mechanism>& all) {
  std::vector<Setting> settings;
  for (std::size_t m = 0; m < all.size(); ++m) {
    for (const double epsilon : figure.epsilons) {
      const LocalBudget budget{Epsilon{epsilon}, delta, all[m].calibration, all[m].norm, 0.5};
      const LocalNoise noise = LocalMechanism(all[m].bounds, budget).noise();
      for (const LocalRepair repair : {LocalRepair::none, LocalRepair::ridge}) {
        const std::size_t count = figure.reports.size();
        settings.push_back({m, epsilon, repair, noise, 0, std::vector<std::vector<double>>(count),
                            std::vector<std::size_t>(count), std::vector<std::size_t>(count)});
      }
    }
  }
  return settings;
}

void add_repetition(const Draw& draw, std::size_t index, double n, const std::vector<double>& x,
                    const std::vector<Mechanism>& all, std::vector<Setting>& settings) {
  for (Setting& one : settings) {
    const LocalEstimate estimate =
        solve_local(moments(draw, n, all[one.mechanism], one.noise), one.noise,
                    {.x = x, .weights = draw.public_counts}, {.family = GlmFamily::logistic, .repair = one.repair});
    one.errors[index].push_back(squared_relative_error(estimate));
    one.indefinite[index] += estimate.spectrum.definite ? 0U : 1U;
    one.no_scale[index] += estimate.scale->exists ? 0U : 1U;
    one.reports_needed = estimate.second_moment.reports_needed;
  }
}

/// A line through (ln x, ln median), where each point is weighted by its median's own relative error.
class Line {
 public:
  void add(double x, const Median& error) {
    const double weight = std::pow(error.value / error.standard_error, 2);
    weights_ += weight;
    x_ += weight * std::log(x);
    y_ += weight * std::log(error.value);
    xx_ += weight * std::log(x) * std::log(x);
    xy_ += weight * std::log(x) * std::log(error.value);
    ++points_;
  }
  [[nodiscard]] std::size_t points() const noexcept { return points_; }
  /// The slope; NaN with fewer than two points.
  [[nodiscard]] double slope() const { return points_ < 2 ? std::nan("") : (xy_ - x_ * y_ / weights_) / spread(); }
  [[nodiscard]] double standard_error() const { return points_ < 2 ? std::nan("") : 1 / std::sqrt(spread()); }

 private:
  [[nodiscard]] double spread() const { return xx_ - x_ * x_ / weights_; }

  double weights_ = 0, x_ = 0, y_ = 0, xx_ = 0, xy_ = 0;
  std::size_t points_ = 0;
};

/// The line over the numbers of reports from `from` on.
Line slope_in_reports(const LocalFigure& figure, const Setting& setting, double from) {
  Line line;
  for (std::size_t i = 0; i < figure.reports.size(); ++i) {
    if (figure.reports[i] >= from) line.add(figure.reports[i], median(setting.errors[i]));
  }
  return line;
}

/// The line over ε at the largest n, for the settings that differ from `first` in ε alone.
Line slope_in_epsilon(const std::vector<Setting>& settings, const Setting& first) {
  Line line;
  for (const Setting& one : settings) {
    if (one.mechanism == first.mechanism && one.repair == first.repair)
      line.add(one.epsilon, median(one.errors.back()));
  }
  return line;
}

std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "null";
}

std::string head(const Setting& setting, const std::vector<Mechanism>& all) {
  return fmt::format("{{\"mechanism\": \"{}\", \"repair\": \"{}\", \"epsilon\": {}, ", all[setting.mechanism].name,
                     name(setting.repair), setting.epsilon);
}

std::string row(const LocalFigure& figure, const std::vector<Mechanism>& all, const Setting& setting,
                std::size_t index) {
  const Median error = median(setting.errors[index]);
  return fmt::format(
      "\n  {}\"n\": {}, \"noise_xx\": {:.6g}, \"noise_xy\": {:.6g}, \"median\": {}, \"standard_error\": {}, "
      "\"indefinite\": {}, \"no_scale\": {}}}",
      head(setting, all), figure.reports[index], setting.noise.second_moment.value(),
      setting.noise.cross_moment.value(), number(error.value), number(error.standard_error),
      setting.indefinite[index], setting.no_scale[index]);
}

std::string common(const LocalFigure& figure, const char* title) {
  return fmt::format(
      "{{\"figure\": \"{}\", \"p\": {}, \"delta\": {}, \"repetitions\": {}, \"drawn_up_to\": {},\n\"rows\": [", title,
      p, delta.value(), figure.repetitions, figure.drawn_up_to);
}

void append(const std::string& item, std::string& list) {
  if (!list.empty()) list += ',';
  list += item;
}

/// A bar that reaches below 0 has no place on a logarithmic axis.
Point point(double x, const Median& error) {
  return {x, error.value, std::min(error.standard_error, 0.9 * error.value)};
}

DrawnFigure over_reports(const LocalFigure& figure, const std::vector<Mechanism>& all,
                         const std::vector<Setting>& settings) {
  std::string rows;
  std::string slopes;
  std::vector<Series> shown;
  for (const Setting& one : settings) {
    const double from = 4 * one.reports_needed;
    const Line fitted = slope_in_reports(figure, one, from);
    append(
        fmt::format("\n  {}\"from\": {:.6g}, \"points\": {}, \"slope\": {}, \"standard_error\": {}}}", head(one, all),
                    from, fitted.points(), number(fitted.slope()), number(fitted.standard_error())),
        slopes);
    Series series{all[one.mechanism].name, {}};
    for (std::size_t i = 0; i < figure.reports.size(); ++i) {
      append(row(figure, all, one, i), rows);
      series.points.push_back(point(figure.reports[i], median(one.errors[i])));
    }
    if (one.repair == LocalRepair::none && one.epsilon == figure.epsilons.front()) shown.push_back(series);
  }
  const std::string title = fmt::format("Local logistic model, epsilon {}", figure.epsilons.front());
  return {"reports", common(figure, "local glm over reports") + rows + "],\n\"slopes\": [" + slopes + "]}\n",
          line_chart(title, {"reports n", true}, {"median squared relative error", true}, std::move(shown))};
}

DrawnFigure over_epsilon(const LocalFigure& figure, const std::vector<Mechanism>& all,
                         const std::vector<Setting>& settings) {
  std::string rows;
  std::string slopes;
  std::vector<Series> shown;
  const std::size_t last = figure.reports.size() - 1;
  for (const Setting& one : settings) {
    append(row(figure, all, one, last), rows);
    if (one.epsilon != figure.epsilons.front()) continue;
    const Line fitted = slope_in_epsilon(settings, one);
    append(fmt::format("\n  {{\"mechanism\": \"{}\", \"repair\": \"{}\", \"n\": {}, \"slope\": {}, "
                       "\"standard_error\": {}}}",
                       all[one.mechanism].name, name(one.repair), figure.reports[last], number(fitted.slope()),
                       number(fitted.standard_error())),
           slopes);
    Series series{all[one.mechanism].name, {}};
    for (const Setting& other : settings) {
      if (other.mechanism != one.mechanism || other.repair != one.repair) continue;
      series.points.push_back(point(other.epsilon, median(other.errors[last])));
    }
    if (one.repair == LocalRepair::none) shown.push_back(series);
  }
  const std::string title = fmt::format("Local logistic model, {:.0e} reports", figure.reports[last]);
  return {"epsilon", common(figure, "local glm over epsilon") + rows + "],\n\"slopes\": [" + slopes + "]}\n",
          line_chart(title, {"epsilon", true}, {"median squared relative error", true}, std::move(shown))};
}

}  // namespace

std::vector<DrawnFigure> local_figures(const LocalFigure& figure) {
  const std::vector<Mechanism> all = mechanisms();
  const std::vector<double> x = all_kinds();
  std::vector<Setting> settings = all_settings(figure, all);
  for (std::size_t index = 0; index < figure.reports.size(); ++index) {
    const double n = figure.reports[index];
    for (std::size_t repetition = 0; repetition < figure.repetitions; ++repetition) {
      std::seed_seq seeds{figure.seed, std::uint64_t{index}, std::uint64_t{repetition}};
      std::mt19937_64 random(seeds);
      Draw draw;
      draw_records(n, x, random, draw);
      if (n <= figure.drawn_up_to) {
        draw_noise(static_cast<std::uint64_t>(n), random, draw);
      } else {
        draw_sum_of_noise(n, random, draw);
      }
      add_repetition(draw, index, n, x, all, settings);
    }
  }
  return {over_reports(figure, all, settings), over_epsilon(figure, all, settings)};
}

}  // namespace nustream::benchmarks
