// Reproduces the figures of the IV paper (DP-2S-GD): reproduce_iv FIGURE… [--quick] [--out FOLDER] [--data FOLDER].
// Each becomes FOLDER/iv_FIGURE.json and .svg; "card" and "angrist" need their tables in the data folder. The
// synthetic setting is that of section 4.1, p = q = r. The constants are the exact calibration, and by name the
// paper's (√2 above it). Steps are full batches, replace-one.
#include <algorithm>
#include <functional>
#include <string>

#include "figure.h"
#include "iv_problem.h"
#include "nustream/inference/interval.h"

namespace {

using namespace nustream;
using namespace nustream::benchmarks;
using Arguments = FigureArguments;

struct Spread {
  double mean;
  double stddev;
};
Spread spread_of(const std::vector<double>& values) {
  const Estimate found = estimate(values);
  return {found.mean, found.standard_error * std::sqrt(static_cast<double>(values.size()))};
}

/// The path of the first coefficient on real data, over keys and budgets. ρ is that of both stages together, in
/// halves.
struct LearningPath {
  const char* figure;
  const char* title;
  Steps steps;
  Clips clips;
  std::uint64_t count;  // T
  std::vector<double> rhos;
  std::size_t repetitions;
};

struct IntervalsFound {
  double mean_width;
  double coverage;  ///< coverage of the end without noise
};

/// The 95% intervals from m independent runs at ρ/m each, of as many repetitions as the path has keys.
IntervalsFound intervals_of(const LearningPath& path, const Problem& problem, double rho, double target) {
  constexpr std::uint64_t m = 5;
  const auto repetitions = static_cast<double>(path.repetitions);
  IntervalsFound found{0, 0};
  for (std::uint64_t r = 0; r < path.repetitions; ++r) {
    std::vector<double> ends;
    for (std::uint64_t run = 0; run < m; ++run) {
      const double each = rho / (2 * m);
      ends.push_back(
          two_stage(problem, path.steps, path.clips, path.count, each, each, 1'000 + m * r + run).last()[0]);
    }
    const inference::Interval interval = *inference::t_interval(ends, 0.95);
    found.mean_width += 2 * interval.half_width / repetitions;
    const bool holds = interval.lower() <= target && target <= interval.upper();
    found.coverage += holds ? 1 / repetitions : 0;
  }
  return found;
}

Figure path_figure(const LearningPath& path, const Problem& problem) {
  const Iterates silent = two_stage(problem, path.steps, path.clips, path.count, 1, 1, std::nullopt);
  std::string rows;
  std::vector<Series> paths;
  for (const double rho : path.rhos) {
    std::vector<double> finals;
    std::vector<std::vector<double>> at(path.count);
    for (std::uint64_t key = 1; key <= path.repetitions; ++key) {
      const Iterates run = two_stage(problem, path.steps, path.clips, path.count, rho / 2, rho / 2, key);
      finals.push_back(run.last()[0]);
      for (std::size_t t = 0; t < path.count; ++t) at[t].push_back(run.at(t)[0]);
    }
    const Spread found = spread_of(finals);
    const IntervalsFound intervals = intervals_of(path, problem, rho, silent.last()[0]);
    rows += fmt::format(
        "{}\n    {{\"rho\": {}, \"mean\": {:.5f}, \"stddev\": {:.5f}, \"standard_error\": {:.2g}, \"repetitions\": "
        "{}, "
        "\"intervals\": {{\"kind\": \"5 runs at a fifth of rho\", \"mean_width\": {:.4g}, \"coverage\": {:.3f}, "
        "\"repetitions\": {}}}}}",
        rows.empty() ? "" : ",", rho, found.mean, found.stddev,
        found.stddev / std::sqrt(static_cast<double>(finals.size())), finals.size(), intervals.mean_width,
        intervals.coverage, path.repetitions);
    paths.push_back({fmt::format("rho = {}", rho), {}});
    for (std::size_t t = 0; t < path.count; ++t) {
      const Spread here = spread_of(at[t]);
      paths.back().points.push_back({static_cast<double>(t + 1), here.mean, here.stddev});
    }
  }
  return {fmt::format("{{\"figure\": \"{}\", \"source\": \"IV\", \"records\": {}, \"noise_off\": {:.6f}, "
                      "\"two_stage_least_squares\": {:.6f},\n  \"points\": [{}]}}\n",
                      path.figure, problem.table.rows(), silent.last()[0], problem.two_stage[0], rows),
          line_chart(path.title, {"step"}, {"coefficient"}, paths)};
}

/// Figure 13's setting: T = 15, η = .84091, α = .38283, γ_1 = 12, γ_2 = 4, exact calibration.
Figure card_figure(const Arguments& arguments) {
  return path_figure({"figure 13: returns to schooling",
                      "Card: coefficient of education, mean and spread over keys",
                      {0.84091, 0.38283},
                      {12, 4},
                      15,
                      {0.1, 1, 10},
                      arguments.quick ? 40U : 200U},
                     card(arguments.data));
}

/// Figures 5, 10 and 11 on all 254,654 rows: T = 20, step sizes as in section 4, and clip norms just above the
/// largest gradients that the ranges of the columns (0/1 and 0 … 52 weeks, centred) allow.
Figure angrist_figure(const Arguments& arguments) {
  const Problem problem = angrist(arguments.data);
  return path_figure({"figures 5, 10, 11: a third child and weeks worked",
                      "Angrist and Evans: coefficient of a third child, mean and spread over keys",
                      suitable_steps(problem),
                      {0.4, 1.2},
                      20,
                      {0.2, 2, 20},
                      arguments.quick ? 4U : 200U},
                     problem);
}

/// One pass over the same rows in the file's order, one record a step. Both stages have correlated noise of their
/// own, ν = 1e-4, ρ in halves, zero-out; the figure is the average of the second half of the steps.
Figure angrist_stream_figure(const Arguments& arguments) {
  const Problem problem = scaled(angrist(arguments.data), {2, 10}, 1.0 / 22);  // the fitted values to a spread near 1
  const double unit = 10 * 22.0;                                               // of a coefficient, in weeks a child
  lane::Settings settings = settings_of(problem, {0.0002, 0.001}, {7, 0.6});
  settings.averaging = {descent::Averaging::Kind::tail, problem.table.rows() / 2, 0};
  const noise::Correlation correlation{noise::Rational::nu_ftrl(Damping{1e-4})};
  const double silent = stream_two_stage(settings, problem.table, correlation, 1, std::nullopt) * unit;
  Series path{"average of the second half", {}};
  std::string rows;
  for (const double rho : {1.0, 10.0, 100.0}) {
    std::vector<double> ends;
    for (std::uint64_t key = 1; key <= (arguments.quick ? 4U : 100U); ++key) {
      ends.push_back(stream_two_stage(settings, problem.table, correlation, rho, key) * unit);
    }
    const Spread found = spread_of(ends);
    const double error = found.stddev / std::sqrt(static_cast<double>(ends.size()));
    rows += fmt::format(
        "{}\n    {{\"rho\": {}, \"mean\": {:.4f}, \"stddev\": {:.4f}, \"standard_error\": {:.2g}, "
        "\"repetitions\": {}}}",
        rows.empty() ? "" : ",", rho, found.mean, found.stddev, error, ends.size());
    path.points.push_back({rho, found.mean, found.stddev});
  }
  return {
      fmt::format("{{\"figure\": \"a third child and weeks worked, one pass\", \"source\": \"ours\", \"records\": "
                  "{}, \"noise_off\": {:.4f}, \"two_stage_least_squares\": {:.6f},\n  \"points\": [{}]}}\n",
                  problem.table.rows(), silent, problem.two_stage[0] * unit, rows),
      line_chart("Angrist and Evans in one pass: coefficient of a third child, mean and spread over keys",
                 {"rho", true}, {"coefficient"}, {path})};
}

std::size_t repetitions(const Arguments& arguments) {
  return arguments.quick ? 8 : 100;
}

Figure sweep(const char* name, const char* title, Axis axis, const std::vector<Series>& series,
             const Arguments& arguments, const std::string& more = "", std::size_t tables = 0) {
  return {fmt::format("{{\"figure\": \"{}\", \"source\": \"IV\", \"repetitions\": {}, {}\"columns\": [\"{}\", "
                      "\"distance\", \"standard_error\"],\n  \"series\": {}}}\n",
                      name, tables > 0 ? tables : repetitions(arguments), more, axis.title, series_json(series)),
          line_chart(title, std::move(axis), {"distance to the truth", true}, series)};
}

Point mean_distance(double x, std::size_t tables, const std::function<double(std::uint64_t)>& run) {
  std::vector<double> distances;
  for (std::uint64_t r = 1; r <= tables; ++r) distances.push_back(run(r));
  const Estimate found = estimate(distances);
  return {x, found.mean, found.standard_error};
}
Point mean_distance(double x, const Arguments& arguments, const std::function<double(std::uint64_t)>& run) {
  return mean_distance(x, repetitions(arguments), run);
}

/// Figure 3: against n under three splits of ρ = 10. T = 20. With p = q = 50 gradients are longer by the square of
/// √10, and so are the clip norms.
Figure split_figure(const Arguments& arguments, std::size_t p) {
  const bool large = p > 5;
  const Clips clips = large ? Clips{400, 3000} : Clips{40, 300};
  std::vector<Series> all;
  for (const double rho_1 : {1.0, 5.0, 9.0}) {
    all.push_back({fmt::format("rho_1 = {}", rho_1), {}});
    for (const std::size_t n : {500U, 1000U, 2000U, 4000U, 8000U}) {
      if (large && (n > 4000 || (arguments.quick && n > 500))) continue;
      const auto run = [&](std::uint64_t r) {
        const Problem problem = synthetic(p, n, 1000 * n + r);
        return distance(
            two_stage(problem, suitable_steps(problem), clips, 20, rho_1, 10 - rho_1, r, papers_constant).last(),
            problem.truth);
      };
      all.back().points.push_back(mean_distance(static_cast<double>(n), arguments, run));
    }
  }
  return sweep(large ? "figure 3 (b): split of the budget" : "figure 3: split of the budget",
               fmt::format("Error against n, rho = 10, p = q = {0}, T = 20", p).c_str(), {"n", true}, all, arguments);
}

/// Figure 4: the error against T under small ρ_1, and under small ρ_2. n = 1000.
Figure steps_figure(const Arguments& arguments) {
  std::vector<Series> all;
  for (const auto& [rho_1, rho_2] :
       {std::pair{0.1, 100.0}, std::pair{1.0, 100.0}, std::pair{100.0, 0.1}, std::pair{100.0, 1.0}}) {
    all.push_back({fmt::format("rho = {}, {}", rho_1, rho_2), {}});
    for (const std::uint64_t count : {5U, 10U, 20U, 40U, 80U}) {
      all.back().points.push_back(mean_distance(static_cast<double>(count), arguments, [&](std::uint64_t r) {
        const Problem problem = synthetic(5, 1000, 7000 + r);
        return distance(
            two_stage(problem, suitable_steps(problem), {40, 300}, count, rho_1, rho_2, r, papers_constant).last(),
            problem.truth);
      }));
    }
  }
  return sweep("figure 4: number of steps", "Error against T, n = 1000, p = q = 5", {"T", true}, all, arguments);
}

/// Figure 6: Algorithm 1 at ρ_1 = 1 against Algorithm 3, over T. n = 1000. The latter is private only where z and x
/// are public.
Figure public_rows_figure(const Arguments& arguments) {
  std::vector<Series> all;
  for (const double rho_2 : {0.1, 1.0, 10.0}) {
    for (const bool is_public : {false, true}) {
      all.push_back({fmt::format("{}, rho_2 = {}", is_public ? "algorithm 3" : "algorithm 1", rho_2), {}});
      for (const std::uint64_t count : {5U, 10U, 20U, 40U, 80U, 160U}) {
        all.back().points.push_back(mean_distance(static_cast<double>(count), arguments, [&](std::uint64_t r) {
          const Problem problem = synthetic(5, 1000, 8000 + r);
          const Steps steps = suitable_steps(problem);
          const Iterates run = is_public ? public_rows(problem, steps, 300, count, rho_2, r, papers_constant)
                                         : two_stage(problem, steps, {40, 300}, count, 1, rho_2, r, papers_constant);
          return distance(run.last(), problem.truth);
        }));
      }
    }
  }
  return sweep("figure 6: algorithms 1 and 3", "Error against T, n = 1000, p = q = 5", {"T", true}, all, arguments);
}

/// Figure 7: step sizes as shares of the suitable ones, one at a time. n = 2000, T = 20, ρ = 5 + 5.
Figure step_sizes_figure(const Arguments& arguments) {
  std::vector<Series> all{{"first stage", {}}, {"second stage", {}}};
  for (const double share : {0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2}) {
    for (std::size_t i = 0; i < 2; ++i) {
      all[i].points.push_back(mean_distance(share, arguments, [&](std::uint64_t r) {
        const Problem problem = synthetic(5, 2000, 11'000 + r);
        Steps steps = suitable_steps(problem);
        (i == 0 ? steps.first : steps.second) *= share;
        return distance(two_stage(problem, steps, {40, 300}, 20, 5, 5, r, papers_constant).last(), problem.truth);
      }));
    }
  }
  return sweep("figure 7: step sizes", "Error against the step size, n = 2000, rho = 5 + 5",
               {"share of the suitable step size"}, all, arguments);
}

/// Figure 8: one clip norm for both stages, and the two norms apart. n = 2000, T = 20, ρ = 5 each; ten times as many
/// tables as elsewhere, since the distances spread widely and the least of them is compared with others' draws.
Figure clip_figure(const Arguments& arguments) {
  const std::size_t tables = arguments.quick ? repetitions(arguments) : 10 * repetitions(arguments);
  const auto at = [&](Clips clips, double x) {
    return mean_distance(x, tables, [&](std::uint64_t r) {
      const Problem problem = synthetic(5, 2000, 9000 + r);
      return distance(two_stage(problem, suitable_steps(problem), clips, 20, 5, 5, r, papers_constant).last(),
                      problem.truth);
    });
  };
  const Point apart = at({40, 300}, 0);
  std::vector<Series> all{{"one clip norm", {}}, {"40 and 300", {}}};
  for (const double gamma : {1.0, 3.0, 10.0, 30.0, 60.0, 100.0, 200.0, 300.0, 600.0, 1000.0}) {
    all[0].points.push_back(at({gamma, gamma}, gamma));
    all[1].points.push_back({gamma, apart.y, apart.error});
  }
  return sweep("figure 8: clip norms", "Error against the clip norm, n = 2000, rho = 5 + 5", {"gamma", true}, all,
               arguments, {}, tables);
}

/// Remark 3.8: how far 2S-GD without noise is from 2SLS after 500 steps, on a grid as fine as that of ρ = 5e13. p = q
/// = 5, n = 2000.
std::string distance_to_two_stage(const Arguments& arguments) {
  std::vector<double> apart;
  for (std::uint64_t r = 1; r <= repetitions(arguments); ++r) {
    const Problem problem = synthetic(5, 2000, 13'000 + r);
    const Iterates run = two_stage(problem, suitable_steps(problem), {1e3, 5e3}, 500, 5e13, 5e13, std::nullopt);
    apart.push_back(distance(run.last(), problem.two_stage));
  }
  std::ranges::sort(apart);
  const auto near = static_cast<double>(std::ranges::count_if(apart, [](double d) { return d <= 1e-12; }));
  return fmt::format(
      "\"remark 3.8\": {{\"p\": 5, \"n\": 2000, \"T\": 500, \"median_distance_to_2SLS\": {:.2g}, "
      "\"largest\": {:.2g}, \"share_within_1e-12\": {:.2g}}},\n  ",
      apart[apart.size() / 2], apart.back(), near / static_cast<double>(apart.size()));
}

/// Figure 9: 2S-GD without noise against 2SLS. p = q = 20, T = 100 and 500.
Figure rate_figure(const Arguments& arguments) {
  std::vector<Series> all{{"2SLS", {}}, {"2S-GD, T = 100", {}}, {"2S-GD, T = 500", {}}};
  for (const std::size_t n : {500U, 1000U, 2000U, 5000U}) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].points.push_back(mean_distance(static_cast<double>(n), arguments, [&](std::uint64_t r) {
        const Problem problem = synthetic(20, n, 500 * n + r);
        if (i == 0) return distance(problem.two_stage, problem.truth);
        return distance(
            two_stage(problem, suitable_steps(problem), {1e4, 1e4}, i == 1 ? 100 : 500, 1, 1, std::nullopt).last(),
            problem.truth);
      }));
    }
  }
  return sweep("figure 9: rates", "Error without noise, p = q = 20", {"n", true}, all, arguments,
               distance_to_two_stage(arguments));
}

}  // namespace

int main(int argc, char** argv) {
  return draw_figures(
      "iv",
      {single("card", card_figure), single("angrist", angrist_figure),
       single("angrist_stream", angrist_stream_figure),
       single("split", [](const Arguments& arguments) { return split_figure(arguments, 5); }),
       single("split_50", [](const Arguments& arguments) { return split_figure(arguments, 50); }),
       single("steps", steps_figure), single("public_rows", public_rows_figure),
       single("step_sizes", step_sizes_figure), single("clips", clip_figure), single("rates", rate_figure)},
      argc, argv);
}
