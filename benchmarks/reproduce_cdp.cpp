// Reproduces the figures and tables of CDP+ that theory and simulation can give: reproduce_cdp FIGURE… [--quick]
// [--out FOLDER]. Each becomes FOLDER/cdp_FIGURE.json and .svg.
//
// Every F includes the ½ of F(θ) = ½E(y − xᵀθ)², with ρ = G = 1 and zero-out neighbours. "exact" is the stationary
// value with the noise that x xᵀ multiplies in (nustream/privacy/stationary.h). "simulated" is the lane itself on x ~
// N(0, H) and y = 0, with a ρ so large that no gradient is clipped, scaled back to ρ = 1.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "cdp_noise.h"
#include "figure.h"
#include "nustream/privacy/optimised.h"
#include "nustream/privacy/optimised_descent.h"
#include "nustream/privacy/stationary.h"
#include "private_path.h"

namespace {

using namespace nustream;
using namespace nustream::benchmarks;

const noise::Correlation independent{noise::Independent{}};

noise::Correlation rational(double nu) {
  return noise::Correlation{noise::Rational::nu_ftrl(Damping{nu})};
}

/// The eigenvalues λ_k = k^−α for k = 1 … d.
std::vector<double> power_law(std::size_t d, double alpha) {
  std::vector<double> eigenvalues;
  for (std::size_t k = 1; k <= d; ++k) eigenvalues.push_back(std::pow(static_cast<double>(k), -alpha));
  return eigenvalues;
}

NoiseStddev stddev_at(const noise::Correlation& correlation, double rho) {
  const auto once = privacy::Participation::once();
  return noise_stddev(privacy::multiplier_for(privacy::sensitivity_limit(correlation, once), Rho{rho}),
                      Displacement{1.0});
}

double exact(const noise::Correlation& correlation, const std::vector<double>& eigenvalues, double eta) {
  return privacy::stationary_excess(correlation, {eigenvalues, StepSize{eta}, privacy::Curvature::gaussian_features},
                                    stddev_at(correlation, 1));
}

/// The mean of ½ θᵀHθ over the last `steps` steps of a lane, with the standard error from 32 stretches.
Estimate simulated(const noise::Correlation& correlation, const std::vector<double>& eigenvalues, double eta,
                   std::size_t steps, std::uint64_t run) {
  constexpr double rho = 1e8;  // no gradient is near the clip norm 1, as θ is 1e-4 of its size at ρ = 1
  const std::size_t d = eigenvalues.size();
  const lane::Settings settings = plain_descent(d, 1.0, eta);
  const noise::Grid grid(stddev_at(correlation, rho), noise::largest_stddev(correlation), settings.clip);
  noise::NoiseSource noise(correlation, noise::GeneratorKind::automatic, d,
                           noise::first_checkpoint(numbered_key(run), {LaneId{0}, EpochId{0}, 0}), StepIndex{0});
  // The features come from the same generator under another key, which is ten times faster than the standard
  // library's.
  noise::NoiseSource features(independent, noise::GeneratorKind::automatic, d,
                              noise::first_checkpoint(numbered_key(run), {LaneId{1}, EpochId{0}, 0}), StepIndex{0});
  std::vector<double> roots;
  for (const double eigenvalue : eigenvalues) roots.push_back(std::sqrt(eigenvalue));

  lane::Lane lane(settings, grid, Position{0});
  lane::Releases releases;
  record::RowBatch rows;
  rows.dimension = d;
  std::vector<std::int64_t> units;
  const auto burn_in = static_cast<std::size_t>(4 / (eta * eigenvalues.back()));
  constexpr std::size_t stretches = 32;
  std::vector<double> sums(stretches, 0.0);
  std::vector<double> counts(stretches, 0.0);
  for (std::size_t step = 0; step < steps + burn_in;) {
    const noise::CorrelatedBlock block = noise.next();
    const noise::CorrelatedBlock draws = features.next();
    units.resize(block.steps * d);
    grid.round_noise(block.z, units);
    rows.clear();
    rows.x.resize(block.steps * d);
    for (std::size_t i = 0; i < block.steps; ++i) {
      for (std::size_t j = 0; j < d; ++j) rows.x[i * d + j] = roots[j] * draws.z[i * d + j];
    }
    rows.y.assign(block.steps, 0.0);
    releases.clear();
    lane.advance({d, block.steps, rows.x.data(), rows.y.data(), nullptr}, {block.first, d, units}, releases);
    for (std::size_t i = 0; i < block.steps; ++i) {
      const std::size_t t = step + i;
      if (t < burn_in || t >= steps + burn_in) continue;
      const std::size_t stretch = (t - burn_in) * stretches / steps;
      double excess = 0;
      const auto theta = releases[i].theta;
      for (std::size_t j = 0; j < d; ++j) excess += eigenvalues[j] * theta[j] * theta[j] / 2;
      sums[stretch] += excess;
      counts[stretch] += 1;
    }
    step += block.steps;
  }
  if (lane.clipped() > 0) {
    fmt::print(stderr, "reproduce_cdp: {} gradients were clipped\n", lane.clipped());
    std::exit(70);
  }
  for (std::size_t i = 0; i < stretches; ++i) sums[i] *= rho / counts[i];
  return estimate(sums);
}

/// Figure 1, left: F with ν = η over F with independent noise, for the mean.
Figure ratio_figure(const FigureArguments&) {
  Series theory{"nu = eta over independent", {}};
  for (double eta = 0.001; eta < 1; eta *= 1.25) {
    const privacy::LocalProblem mean{{1.0}, StepSize{eta}, privacy::Curvature::fixed};
    const noise::Correlation ours = nu_ftrl(eta);
    theory.points.push_back({eta, privacy::stationary_excess(ours, mean, stddev_at(ours, 1)) /
                                      privacy::stationary_excess(independent, mean, stddev_at(independent, 1))});
  }
  const std::vector<Series> all{theory};
  return {fmt::format("{{\"figure\": \"figure 1: mean estimation\", \"source\": \"CDP+\", \"columns\": [\"eta\", "
                      "\"ratio\", \"standard_error\"],\n  \"series\": {}}}\n",
                      series_json(all)),
          line_chart("Suboptimality of nu-FTRL over independent noise, the mean", {"step size", true},
                     {"ratio", true}, all)};
}

/// One panel of figure 2.
struct Panel {
  const char* name;
  const char* axis;
  struct Setting {
    double x;
    std::vector<double> eigenvalues;
    double eta;
  };
  std::vector<Setting> settings;
};

/// The lines of Theorem 2.2, whose constants the paper leaves open: each goes through the first exact value of its
/// correlation, so that slopes can be compared.
std::vector<Series> theorem_lines(const Panel& panel, double of_independent, double of_nu) {
  std::vector<Series> lines{{"independent, theorem 2.2", {}, false, true},
                            {"nu, theorem 2.2", {}, false, true},
                            {"nu, theorem 2.2 without its logarithm", {}, false, true}};
  for (const Panel::Setting& setting : panel.settings) {
    const std::vector<double>& eigenvalues = setting.eigenvalues;
    const double bare = setting.eta * setting.eta * std::accumulate(eigenvalues.begin(), eigenvalues.end(), 0.0);
    const double logarithm = std::log(1 / (setting.eta * eigenvalues.back()));
    lines[0].points.push_back({setting.x, setting.eta * static_cast<double>(eigenvalues.size())});
    lines[1].points.push_back({setting.x, bare * logarithm * logarithm});
    lines[2].points.push_back({setting.x, bare});
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const double scale = (i == 0 ? of_independent : of_nu) / lines[i].points.front().y;
    for (Point& point : lines[i].points) point.y *= scale;
  }
  return lines;
}

/// As many steps as make the standard error about 1%: the slowest modes last 1/(ηλ_min) steps.
std::size_t steps_for(const Panel::Setting& setting, bool quick) {
  const double slowest = 1 / (setting.eta * setting.eigenvalues.back());
  const double wanted = (quick ? 30 : 300) * slowest;
  return static_cast<std::size_t>(std::clamp(wanted, quick ? 2e4 : 1e6, quick ? 2e5 : 4e6));
}

Figure panel_figure(const Panel& panel, const FigureArguments& arguments) {
  std::vector<Series> all{{"independent, exact", {}},
                          {"independent, simulated", {}, true},
                          {"nu, exact", {}},
                          {"nu, simulated", {}, true}};
  std::uint64_t run = 1;
  for (const Panel::Setting& setting : panel.settings) {
    const double nu = setting.eta * setting.eigenvalues.back();
    const std::size_t steps = steps_for(setting, arguments.quick);
    for (std::size_t i = 0; i < 2; ++i) {
      const noise::Correlation generated = i == 0 ? independent : rational(nu);
      all[2 * i].points.push_back(
          {setting.x, exact(i == 0 ? independent : nu_ftrl(nu), setting.eigenvalues, setting.eta)});
      const Estimate found = simulated(generated, setting.eigenvalues, setting.eta, steps, run++);
      all[2 * i + 1].points.push_back({setting.x, found.mean, found.standard_error});
    }
  }
  for (Series& line : theorem_lines(panel, all[0].points.front().y, all[2].points.front().y)) {
    all.push_back(std::move(line));
  }
  std::string slopes;
  for (const Series& one : all) {
    slopes += fmt::format("{}\"{}\": {:.4f}", slopes.empty() ? "" : ", ", one.name, log_slope(one.points));
  }
  return {fmt::format(
              "{{\"figure\": \"figure 2: {}\", \"source\": \"CDP+\", \"repetitions\": \"32 stretches of one run\", "
              "\"slopes\": {{{}}},\n  \"columns\": "
              "[\"{}\", \"excess\", \"standard_error\"],\n  \"series\": {}}}\n",
              panel.name, slopes, panel.axis, series_json(all)),
          line_chart(fmt::format("Linear regression, suboptimality against {}", panel.axis), {panel.axis, true},
                     {"F", true}, all)};
}

Figure dimension_figure(const FigureArguments& arguments) {
  Panel panel{"dimension", "d", {}};
  for (const std::size_t d : {16U, 32U, 64U, 128U, 256U, 512U}) {
    panel.settings.push_back({static_cast<double>(d), power_law(d, 1), 0.02});
  }
  if (arguments.quick) panel.settings.resize(3);
  return panel_figure(panel, arguments);
}

Figure effective_dimension_figure(const FigureArguments& arguments) {
  Panel panel{"effective dimension", "effective dimension", {}};
  for (const double alpha : {1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4}) {
    const std::vector<double> eigenvalues = power_law(128, alpha);
    const double trace = std::accumulate(eigenvalues.begin(), eigenvalues.end(), 0.0);
    panel.settings.push_back({trace / eigenvalues.front(), eigenvalues, 0.02});
  }
  return panel_figure(panel, arguments);
}

Figure step_size_figure(const FigureArguments& arguments) {
  Panel panel{"step size", "step size", {}};
  for (const double eta : {0.02, 0.04, 0.08, 0.16}) panel.settings.push_back({eta, power_law(128, 1), eta});
  return panel_figure(panel, arguments);
}

/// The values at figure 2's common point, d = 128, λ = 1/k, η = .02, and what the paper's other choices give there.
Figure common_point_figure(const FigureArguments& arguments) {
  const std::vector<double> eigenvalues = power_law(128, 1);
  constexpr double eta = 0.02;
  const double trace = std::accumulate(eigenvalues.begin(), eigenvalues.end(), 0.0);
  Series sweep{"nu-FTRL", {}};
  double best = 1;
  double best_nu = 0;
  for (double nu = 2e-5; nu < 0.02; nu *= 1.02) {
    const double excess = exact(nu_ftrl(nu), eigenvalues, eta);
    sweep.points.push_back({nu, excess});
    if (excess < best) {
      best = excess;
      best_nu = nu;
    }
  }
  const double of_independent = exact(independent, eigenvalues, eta);
  const double damped = std::sqrt(eta * trace / 128);
  const noise::Correlation anti{noise::DampedAntiPgd{Damping{damped}}};
  const std::size_t steps = arguments.quick ? 200'000 : 4'000'000;
  const auto lane = [&](const char* name, const noise::Correlation& correlation, std::uint64_t run) {
    const Estimate found = simulated(correlation, eigenvalues, eta, steps, run);
    return fmt::format("\"{}\": {{\"mean\": {:.6g}, \"standard_error\": {:.2g}}}", name, found.mean,
                       found.standard_error);
  };
  const std::string runs = fmt::format("\"steps\": {}, \"repetitions\": \"32 stretches of one run\", {}, {}", steps,
                                       lane("damped anti-PGD", anti, 101), lane("best nu", rational(best_nu), 102));
  return {
      fmt::format("{{\"figure\": \"table 2: one problem, d = 128\", \"source\": \"CDP+\", \"independent\": {:.6g}, "
                  "\"nu = eta mu\": {:.6g}, \"damped anti-PGD\": {:.6g}, \"best nu\": {{\"nu\": {:.3g}, \"excess\": "
                  "{:.6g}}},\n  \"simulated\": {{{}}},\n  \"columns\": [\"nu\", \"excess\", \"standard_error\"],\n  "
                  "\"series\": {}}}\n",
                  of_independent, exact(nu_ftrl(eta / 128), eigenvalues, eta), exact(anti, eigenvalues, eta), best_nu,
                  best, runs, series_json({sweep})),
      line_chart("Suboptimality against nu, d = 128, step size .02", {"nu", true}, {"F", true}, {sweep})};
}

/// Table 2: with a T-dependent sensitivity the error never settles.
Figure divergence_figure(const FigureArguments&) {
  const std::vector<double> eigenvalues = power_law(128, 1);
  constexpr double eta = 0.02;
  std::vector<Series> all{{"anti-PGD", {}}, {"nu = 0", {}}, {"nu = eta mu", {}}, {"damped anti-PGD", {}}};
  const double damped = std::sqrt(eta * std::accumulate(eigenvalues.begin(), eigenvalues.end(), 0.0) / 128);
  for (std::uint64_t steps = 100; steps <= 1'000'000; steps *= 10) {
    const StepCount horizon{steps};
    const auto x = static_cast<double>(steps);
    all[0].points.push_back({x, exact(noise::Correlation{noise::AntiPgd{horizon}}, eigenvalues, eta)});
    all[1].points.push_back({x, exact(noise::Correlation{noise::NuFtrl{Damping{0}, horizon}}, eigenvalues, eta)});
    all[2].points.push_back({x, exact(nu_ftrl(eta / 128), eigenvalues, eta)});
    all[3].points.push_back({x, exact(noise::Correlation{noise::DampedAntiPgd{Damping{damped}}}, eigenvalues, eta)});
  }
  return {fmt::format("{{\"figure\": \"table 2: divergence\", \"source\": \"CDP+\", \"columns\": [\"T\", \"excess\", "
                      "\"standard_error\"],\n  \"series\": {}}}\n",
                      series_json(all)),
          line_chart("Suboptimality when calibrated for T steps, d = 128", {"T", true}, {"F", true}, all)};
}

/// Figure 3: the bound of Theorem 3.1 with η = .5, L = 1 and 20 multipliers.
Figure bound_figure(const FigureArguments& arguments) {
  std::vector<Series> all{{"independent", {}}, {"nu = eta mu", {}}, {"optimised", {}}};
  constexpr double eta = 0.5;
  std::string gains;
  std::vector<double> conditions{3, 10, 30, 100, 300, 1000};
  if (arguments.quick) conditions.resize(4);
  for (const double condition : conditions) {
    const privacy::StronglyConvex problem{StepSize{eta}, 1 / condition, 1.0, 20};
    const double of_nu = privacy::descent_bound(nu_ftrl(eta / condition), problem);
    const double optimised = privacy::descent_bound(privacy::optimised_window(problem), problem);
    all[0].points.push_back({condition, privacy::descent_bound(independent, problem)});
    all[1].points.push_back({condition, of_nu});
    all[2].points.push_back({condition, optimised});
    gains += fmt::format("{}\"{:g}\": {:.4f}", gains.empty() ? "" : ", ", condition, 1 - optimised / of_nu);
  }
  return {
      fmt::format("{{\"figure\": \"figure 3: the bound of theorem 3.1\", \"source\": \"CDP+\", \"below_nu\": {{{}}},"
                  "\n  \"columns\": [\"condition\", \"bound\", \"standard_error\"],\n  \"series\": {}}}\n",
                  gains, series_json(all)),
      line_chart("Bound of theorem 3.1, step size .5", {"condition number", true}, {"bound", true}, all)};
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Table 3: what it costs to compute B and to draw z, for d = 100, in nanoseconds per coordinate and step over T
/// steps.
Figure cost_figure(const FigureArguments& arguments) {
  constexpr std::size_t d = 100;
  struct Kind {
    std::string name;
    std::function<noise::Correlation(std::uint64_t)> make;
    noise::GeneratorKind generator;
    std::uint64_t most;
  };
  using noise::GeneratorKind;
  const std::vector<Kind> kinds{
      {"independent", [](std::uint64_t) { return independent; }, GeneratorKind::automatic, 1 << 20},
      {"tree",
       [](std::uint64_t steps) {
         return noise::Correlation{
             noise::Tree{static_cast<unsigned>(std::ceil(std::log2(steps))), noise::Tree::Estimator::plain, false}};
       },
       GeneratorKind::tree, 1 << 16},
      {"nu, direct",
       [](std::uint64_t steps) {
         return noise::Correlation{noise::NuFtrl{Damping{1e-3}, StepCount{steps}}};
       },
       GeneratorKind::direct, 1 << 13},
      {"nu, FFT",
       [](std::uint64_t steps) {
         return noise::Correlation{noise::NuFtrl{Damping{1e-3}, StepCount{steps}}};
       },
       GeneratorKind::fft, 1 << 16},
      {"rational", [](std::uint64_t) { return rational(1e-3); }, GeneratorKind::recurrent, 1 << 20},
      {"dense, optimised",
       [](std::uint64_t steps) {
         return privacy::optimised_dense(
             {StepCount{steps}, privacy::Participation::once(), privacy::PrefixError::mean});
       },
       GeneratorKind::dense, 1 << 10}};
  std::vector<Series> draws;
  std::string made;
  for (const Kind& kind : kinds) {
    draws.push_back({kind.name, {}});
    for (std::uint64_t steps = 1 << 8; steps <= (arguments.quick ? 1U << 10 : kind.most); steps *= 4) {
      if (steps > kind.most) break;
      const auto before = std::chrono::steady_clock::now();
      const noise::Correlation correlation = kind.make(steps);
      static_cast<void>(privacy::sensitivity(correlation, StepCount{steps}, privacy::Participation::once()));
      const double creation = seconds_since(before);
      double best = 1e9;
      for (int round = 0; round < 3; ++round) {
        noise::NoiseSource source(correlation, kind.generator, d,
                                  noise::first_checkpoint(numbered_key(1), {LaneId{0}, EpochId{0}, 0}), StepIndex{0});
        const auto start = std::chrono::steady_clock::now();
        std::uint64_t drawn = 0;
        while (drawn < steps) drawn += source.next().steps;
        best = std::min(best, seconds_since(start) / static_cast<double>(drawn * d));
      }
      draws.back().points.push_back({static_cast<double>(steps), 1e9 * best});
      made += fmt::format(
          "{}\n    {{\"name\": \"{}\", \"T\": {}, \"seconds_to_make\": {:.3g}, \"ns_per_sample\": "
          "{:.3g}}}",
          made.empty() ? "" : ",", kind.name, steps, creation, 1e9 * best);
    }
  }
  return {
      fmt::format("{{\"figure\": \"table 3: cost\", \"source\": \"CDP+\", \"dimension\": {},\n  \"rows\": [{}]}}\n",
                  d, made),
      line_chart("Nanoseconds per coordinate and step, d = 100", {"T", true}, {"ns", true}, draws)};
}

}  // namespace

int main(int argc, char** argv) {
  return draw_figures(
      "cdp",
      {single("ratio", ratio_figure), single("coefficients", coefficients_figure),
       single("spectrum", spectrum_figure), single("dimension", dimension_figure),
       single("effective_dimension", effective_dimension_figure), single("step_size", step_size_figure),
       single("common_point", common_point_figure), single("divergence", divergence_figure),
       single("bound", bound_figure), single("costs", cost_figure)},
      argc, argv);
}
