// The figures of the IV paper (DP-2S-GD): reproduce_iv FIGURE… [--quick] [--out FOLDER] [--data FOLDER]. Each becomes
// FOLDER/iv_FIGURE.json and .svg; "card" needs card_complete_2191.csv in the data folder. Synthetic setting:
// section 4.1, p = q = r. Constants: exact calibration, and the paper's (√2 above it) by name. Full batches,
// replace-one.
#include <Eigen/Dense>

#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <sstream>
#include <string>

#include "chart.h"
#include "full_batch.h"

namespace {

using namespace nustream;
using namespace nustream::benchmarks;

const noise::Correlation independent{noise::Independent{}};
const double papers_constant = std::sqrt(2.0);

struct Arguments {
  bool quick = false;
  std::string out = ".";
  std::string data = "../shared/data";
  std::vector<std::string> figures;
};

/// Rows [z, x] of an instrumental problem without controls.
struct Problem {
  MemoryTable table;
  std::size_t instruments = 0;
  std::size_t endogenous = 0;
  std::vector<double> truth;      // empty where nobody knows
  std::vector<double> two_stage;  // 2SLS of the table
};

struct Steps {
  double first;   // η
  double second;  // α
};
struct Clips {
  double first;
  double second;
};

lane::Settings settings_of(const Problem& problem, Steps steps, Clips clips) {
  const descent::TwoStageShape shape{problem.instruments, 0, problem.endogenous};
  return {.dimension = shape.dimension(),
          .loss = {},
          .l2 = 0,
          .clip = ClipNorm{clips.second},
          .schedule = descent::Schedule{descent::Constant{StepSize{steps.second}}},
          .projection = {},
          .averaging = {},
          .minibatch = 1,
          .release_every = 1,
          .start = std::vector<double>(shape.dimension(), 0.0),
          .first_stage = lane::FirstStage{shape, ClipNorm{clips.first},
                                          descent::Schedule{descent::Constant{StepSize{steps.first}}}, 0}};
}

/// rho_1 of the first stage, rho_2 of the second.
Iterates two_stage(const Problem& problem, Steps steps, Clips clips, std::uint64_t count, double rho_1, double rho_2,
                   std::optional<std::uint64_t> key, double inflation = 1) {
  const StageBudget budgets[] = {{rho_2, inflation}, {rho_1, inflation}};
  return full_batch_descent(settings_of(problem, steps, clips), problem.table, count, independent, budgets, key);
}

/// The paper's step sizes: η = 1/λ_max(ZᵀZ/n), α = 2/(2 λ_max + λ_min) of Θ̂ᵀ(ZᵀZ/n)Θ̂, from the table itself: public
/// settings in these studies, never of a private table.
Steps suitable_steps(const Problem& problem) {
  using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto n = static_cast<Eigen::Index>(problem.table.rows());
  const auto q = static_cast<Eigen::Index>(problem.instruments);
  const Eigen::Map<const RowMatrix> rows(problem.table.x.data(), n,
                                         static_cast<Eigen::Index>(problem.table.dimension));
  const Eigen::MatrixXd zz = rows.leftCols(q).transpose() * rows.leftCols(q) / static_cast<double>(n);
  const Eigen::MatrixXd first =
      zz.ldlt().solve(rows.leftCols(q).transpose() * rows.rightCols(rows.cols() - q) / static_cast<double>(n));
  const auto largest = [](const Eigen::MatrixXd& matrix) {
    return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(matrix, Eigen::EigenvaluesOnly).eigenvalues();
  };
  const Eigen::VectorXd fitted = largest(first.transpose() * zz * first);
  return {1 / largest(zz).maxCoeff(), 2 / (2 * fitted.maxCoeff() + fitted.minCoeff())};
}

Problem synthetic(std::size_t p, std::size_t n, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<double> normal;
  const auto d = static_cast<Eigen::Index>(p);
  const auto gauss = [&](Eigen::Index rows, Eigen::Index columns) {
    Eigen::MatrixXd matrix(rows, columns);
    for (double& entry : matrix.reshaped()) entry = normal(bits);
    return matrix;
  };
  const Eigen::VectorXd beta = gauss(d, 1);
  const Eigen::MatrixXd theta = 5 * Eigen::MatrixXd::Identity(d, d) + gauss(d, d);
  const Eigen::MatrixXd confounding = gauss(d, d);
  const Eigen::VectorXd confounded = gauss(d, 1);
  Problem problem{{2 * p, {}, {}}, p, p, {beta.data(), beta.data() + d}, {}};
  for (std::size_t i = 0; i < n; ++i) {
    const Eigen::VectorXd z = gauss(d, 1);
    const Eigen::VectorXd u = gauss(d, 1);
    const Eigen::VectorXd x = theta.transpose() * z + confounding.transpose() * u + gauss(d, 1);
    problem.table.x.insert(problem.table.x.end(), z.data(), z.data() + d);
    problem.table.x.insert(problem.table.x.end(), x.data(), x.data() + d);
    problem.table.y.push_back(beta.dot(x) + confounded.dot(u) + normal(bits));
  }
  problem.two_stage = inference::two_stage_least_squares(problem.table.view(), p, 0).theta;
  return problem;
}

/// Columns of a CSV by name.
std::vector<std::vector<double>> columns_of(const std::string& file, const std::vector<std::string>& names) {
  std::ifstream lines(file);
  if (!lines) {
    fmt::print(stderr, "reproduce_iv: cannot read {}; name its folder with --data\n", file);
    std::exit(74);
  }
  std::string line;
  std::getline(lines, line);
  std::vector<std::string> header;
  std::istringstream fields(line);
  for (std::string name; std::getline(fields, name, ',');) header.push_back(name);
  std::vector<std::vector<double>> columns(names.size());
  while (std::getline(lines, line)) {
    std::istringstream row(line);
    std::string field;
    for (const std::string& name : header) {
      std::getline(row, field, ',');
      const auto at = std::find(names.begin(), names.end(), name) - names.begin();
      if (static_cast<std::size_t>(at) < names.size())
        columns[static_cast<std::size_t>(at)].push_back(std::stod(field));
    }
  }
  return columns;
}

void center(std::vector<double>& column, bool standardise) {
  double mean = 0;
  double squares = 0;
  const auto n = static_cast<double>(column.size());
  for (const double value : column) mean += value / n;
  for (double& value : column) {
    value -= mean;
    squares += value * value;
  }
  if (!standardise) return;
  for (double& value : column) value /= std::sqrt(squares / n);
}

Problem card(const std::string& folder) {
  auto columns =
      columns_of(folder + "/card_complete_2191.csv", {"nearc2", "nearc4", "fatheduc", "motheduc", "educ", "lwage"});
  for (std::size_t j = 0; j < columns.size(); ++j) center(columns[j], j < 4);
  Problem problem{{5, {}, {}}, 4, 1, {}, {}};
  for (std::size_t i = 0; i < columns[0].size(); ++i) {
    for (std::size_t j = 0; j < 5; ++j) problem.table.x.push_back(columns[j][i]);
    problem.table.y.push_back(columns[5][i]);
  }
  problem.two_stage = inference::two_stage_least_squares(problem.table.view(), 4, 0).theta;
  return problem;
}

struct Spread {
  double mean;
  double stddev;
};
Spread spread_of(const std::vector<double>& values) {
  const Estimate found = estimate(values);
  return {found.mean, found.standard_error * std::sqrt(static_cast<double>(values.size()))};
}

struct Figure {
  std::string json;
  Chart chart;
};

/// Figure 13's setting: T = 15, η = .84091, α = .38283, γ_1 = 12, γ_2 = 4, exact calibration, ρ in halves.
Figure card_figure(const Arguments& arguments) {
  const Problem problem = card(arguments.data);
  const Steps steps{0.84091, 0.38283};
  const Clips clips{12, 4};
  constexpr std::uint64_t count = 15;
  const Iterates silent = two_stage(problem, steps, clips, count, 1, 1, std::nullopt);
  std::string rows;
  std::vector<Series> paths;
  for (const double rho : {0.1, 1.0, 10.0}) {
    std::vector<double> finals;
    std::vector<std::vector<double>> at(count);
    for (std::uint64_t key = 1; key <= (arguments.quick ? 40U : 200U); ++key) {
      const Iterates run = two_stage(problem, steps, clips, count, rho / 2, rho / 2, key);
      finals.push_back(run.last()[0]);
      for (std::size_t t = 0; t < count; ++t) at[t].push_back(run.at(t)[0]);
    }
    const Spread found = spread_of(finals);
    rows += fmt::format("{}\n    {{\"rho\": {}, \"mean\": {:.5f}, \"stddev\": {:.5f}, \"repetitions\": {}}}",
                        rows.empty() ? "" : ",", rho, found.mean, found.stddev, finals.size());
    paths.push_back({fmt::format("rho = {}", rho), {}});
    for (std::size_t t = 0; t < count; ++t) {
      const Spread here = spread_of(at[t]);
      paths.back().points.push_back({static_cast<double>(t + 1), here.mean, here.stddev});
    }
  }
  return {fmt::format("{{\"figure\": \"figure 13: returns to schooling\", \"source\": \"IV\", \"records\": {}, "
                      "\"noise_off\": {:.6f}, \"two_stage_least_squares\": {:.6f},\n  \"points\": [{}]}}\n",
                      problem.table.rows(), silent.last()[0], problem.two_stage[0], rows),
          Chart("Card: coefficient of education, mean and spread over keys", {"step"}, {"coefficient"}, paths)};
}

Figure sweep(const char* name, const char* title, Axis axis, const std::vector<Series>& series) {
  std::string rows;
  for (const Series& one : series) {
    rows += fmt::format("{}\n    {{\"series\": \"{}\", \"points\": [", rows.empty() ? "" : ",", one.name);
    for (std::size_t i = 0; i < one.points.size(); ++i) {
      rows += fmt::format("{}[{:g}, {:.6g}, {:.2g}]", i == 0 ? "" : ", ", one.points[i].x, one.points[i].y,
                          one.points[i].error);
    }
    rows += "]}";
  }
  return {fmt::format("{{\"figure\": \"{}\", \"source\": \"IV\", \"columns\": [\"{}\", \"distance\", "
                      "\"standard_error\"],\n  \"series\": [{}]}}\n",
                      name, axis.title, rows),
          Chart(title, std::move(axis), {"distance to the truth", true}, series)};
}

std::size_t repetitions(const Arguments& arguments) {
  return arguments.quick ? 8 : 100;
}

Point mean_distance(double x, const Arguments& arguments, const std::function<double(std::uint64_t)>& run) {
  std::vector<double> distances;
  for (std::uint64_t r = 1; r <= repetitions(arguments); ++r) distances.push_back(run(r));
  const Estimate found = estimate(distances);
  return {x, found.mean, found.standard_error};
}

/// Figure 3: against n under three splits of ρ = 10. T = 20.
Figure split_figure(const Arguments& arguments) {
  std::vector<Series> all;
  for (const double rho_1 : {1.0, 5.0, 9.0}) {
    all.push_back({fmt::format("rho_1 = {}", rho_1), {}});
    for (const std::size_t n : {500U, 1000U, 2000U, 4000U, 8000U}) {
      all.back().points.push_back(mean_distance(static_cast<double>(n), arguments, [&](std::uint64_t r) {
        const Problem problem = synthetic(5, n, 1000 * n + r);
        return distance(
            two_stage(problem, suitable_steps(problem), {40, 300}, 20, rho_1, 10 - rho_1, r, papers_constant).last(),
            problem.truth);
      }));
    }
  }
  return sweep("figure 3: split of the budget", "Error against n, rho = 10, p = q = 5, T = 20", {"n", true}, all);
}

/// Figure 4: against T under small ρ_1, and under small ρ_2. n = 1000.
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
  return sweep("figure 4: number of steps", "Error against T, n = 1000, p = q = 5", {"T", true}, all);
}

/// Figure 8: one clip norm for both stages; n = 2000, T = 20, ρ = 5 each; and the two apart.
Figure clip_figure(const Arguments& arguments) {
  std::vector<Series> all{{"one clip norm", {}}, {"40 and 300", {}}};
  for (const double gamma : {1.0, 3.0, 10.0, 30.0, 60.0, 100.0, 200.0, 300.0, 600.0, 1000.0}) {
    for (std::size_t i = 0; i < 2; ++i) {
      const Clips clips = i == 0 ? Clips{gamma, gamma} : Clips{40, 300};
      all[i].points.push_back(mean_distance(gamma, arguments, [&](std::uint64_t r) {
        const Problem problem = synthetic(5, 2000, 9000 + r);
        return distance(two_stage(problem, suitable_steps(problem), clips, 20, 5, 5, r, papers_constant).last(),
                        problem.truth);
      }));
    }
  }
  return sweep("figure 8: clip norms", "Error against the clip norm, n = 2000, rho = 5 + 5", {"gamma", true}, all);
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
  return sweep("figure 9: rates", "Error without noise, p = q = 20", {"n", true}, all);
}

bool write(const std::string& folder, const std::string& name, const Figure& figure) {
  const std::string stem = folder + "/iv_" + name;
  std::FILE* out = std::fopen((stem + ".json").c_str(), "w");
  if (out == nullptr) return false;
  fmt::print(out, "{}", figure.json);
  return std::fclose(out) == 0 && figure.chart.write(stem + ".svg");
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--quick") {
      arguments.quick = true;
    } else if (argument == "--out" && i + 1 < argc) {
      arguments.out = argv[++i];
    } else if (argument == "--data" && i + 1 < argc) {
      arguments.data = argv[++i];
    } else {
      arguments.figures.push_back(argument);
    }
  }
  if (arguments.figures.empty()) arguments.figures = {"card", "split", "steps", "clips", "rates"};
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  const std::map<std::string, Figure (*)(const Arguments&)> figures{{"card", card_figure},
                                                                    {"split", split_figure},
                                                                    {"steps", steps_figure},
                                                                    {"clips", clip_figure},
                                                                    {"rates", rate_figure}};
  for (const std::string& name : arguments.figures) {
    const auto found = figures.find(name);
    if (found == figures.end()) {
      fmt::print(stderr, "reproduce_iv: no figure named {}\n", name);
      return 64;
    }
    if (!write(arguments.out, name, found->second(arguments))) {
      fmt::print(stderr, "reproduce_iv: cannot write into {}\n", arguments.out);
      return 74;
    }
    fmt::print("{}\n", name);
  }
}
