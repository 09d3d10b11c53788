#include "local_figure.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "local_draw.h"

namespace nustream::benchmarks {
namespace {

using namespace nustream::inference;

constexpr std::size_t p = 10;
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

void add_repetition(const LocalDesign& design, const LocalDraw& draw, std::size_t index, double n,
                    const std::vector<Mechanism>& all, std::vector<Setting>& settings) {
  for (Setting& one : settings) {
    const LocalEstimate estimate = solve_local(
        moments(design, draw, n, all[one.mechanism].bounds.label_centre, one.noise), one.noise,
        {.x = design.x, .weights = draw.public_counts}, {.family = GlmFamily::logistic, .repair = one.repair});
    one.errors[index].push_back(std::pow(relative_error(design, estimate), 2));
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
  const LocalDesign design(p);
  std::vector<Setting> settings = all_settings(figure, all);
  for (std::size_t index = 0; index < figure.reports.size(); ++index) {
    const double n = figure.reports[index];
    for (std::size_t repetition = 0; repetition < figure.repetitions; ++repetition) {
      std::seed_seq seeds{figure.seed, std::uint64_t{index}, std::uint64_t{repetition}};
      std::mt19937_64 random(seeds);
      LocalDraw draw(design);
      draw_records(design, n, random, draw);
      if (n <= figure.drawn_up_to) {
        draw_noise(static_cast<std::uint64_t>(n), random, draw);
      } else {
        draw_sum_of_noise(n, random, draw);
      }
      add_repetition(design, draw, index, n, all, settings);
    }
  }
  return {over_reports(figure, all, settings), over_epsilon(figure, all, settings)};
}

}  // namespace nustream::benchmarks
