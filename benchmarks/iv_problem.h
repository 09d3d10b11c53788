// Instrumental problems and full-batch DP-2S-GD over them. The figures of the IV paper are made with these.
#pragma once

#include <zlib.h>

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "full_batch.h"

namespace nustream::benchmarks {

inline const noise::Correlation independent{noise::Independent{}};
inline const double papers_constant = std::sqrt(2.0);

/// Rows [z, x] of an instrumental problem without controls.
struct Problem {
  MemoryTable table;
  std::size_t instruments = 0;
  std::size_t endogenous = 0;
  std::vector<double> truth;      // empty if nobody knows it
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

inline lane::Settings settings_of(const Problem& problem, Steps steps, Clips clips) {
  const descent::TwoStageShape shape{problem.instruments, 0, problem.endogenous};
  lane::Settings settings = plain_descent(shape.dimension(), clips.second, steps.second);
  settings.first_stage =
      lane::FirstStage{shape, ClipNorm{clips.first}, descent::Schedule{descent::Constant{StepSize{steps.first}}}, 0};
  return settings;
}

/// Spends rho_1 on the first stage and rho_2 on the second.
inline Iterates two_stage(const Problem& problem, Steps steps, Clips clips, std::uint64_t count, double rho_1,
                          double rho_2, std::optional<std::uint64_t> key, double inflation = 1) {
  const StageBudget budgets[] = {{rho_2, inflation}, {rho_1, inflation}};
  return full_batch_descent(settings_of(problem, steps, clips), problem.table, count, independent, budgets, key);
}

/// Algorithm 3: z and x are public and y alone is private. The first stage is plain descent, and the second gets all
/// of ρ.
inline Iterates public_rows(const Problem& problem, Steps steps, double clip, std::uint64_t count, double rho,
                            std::optional<std::uint64_t> key, double inflation = 1) {
  lane::Settings settings = settings_of(problem, steps, {1, clip});
  settings.first_stage->clip.reset();
  const StageBudget budget{rho, inflation};
  return full_batch_descent(std::move(settings), problem.table, count, independent, {&budget, 1}, key);
}

/// Makes one pass in the table's order, one record a step, zero-out, with half of ρ for each stage and noise of its
/// own. Returns the first coefficient of the average. Without a key the noise is off.
inline double stream_two_stage(const lane::Settings& settings, const MemoryTable& table,
                               const noise::Correlation& correlation, double rho, std::optional<std::uint64_t> key) {
  const Sensitivity sensitivity = privacy::sensitivity_limit(correlation, privacy::Participation::once());
  const std::vector<lane::Stage> stages = lane::stages(settings);
  std::vector<noise::Grid> grids;
  std::vector<noise::NoiseSource> sources;
  for (const lane::Stage& stage : stages) {
    const Displacement displacement = privacy::displacement(stage.clip, privacy::Adjacency::zero_out);
    grids.emplace_back(noise_stddev(privacy::multiplier_for(sensitivity, Rho{rho / 2}), displacement),
                       noise::largest_stddev(correlation), stage.clip);
    sources.emplace_back(correlation, noise::GeneratorKind::automatic, stage.dimension,
                         noise::first_checkpoint(numbered_key(key.value_or(0)),
                                                 {LaneId{0}, EpochId{0}, static_cast<std::uint32_t>(sources.size())}),
                         StepIndex{0});
  }
  lane::Lane lane(settings, grids, Position{0});
  lane::Releases releases;
  std::vector<std::vector<std::int64_t>> units(stages.size());
  for (std::size_t row = 0; row < table.rows();) {
    std::size_t count = table.rows() - row;
    std::vector<noise::GridNoise> noise;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const noise::CorrelatedBlock block = sources[i].next();  // blocks have equally many steps if the stages have
                                                               // one width
      count = std::min(count, block.steps);
      units[i].assign(block.z.size(), 0);
      if (key) grids[i].round_noise(block.z, units[i]);
      noise.push_back({StepIndex{row}, stages[i].dimension, units[i]});
    }
    for (std::size_t i = 0; i < stages.size(); ++i)
      noise[i].units = noise[i].units.first(count * stages[i].dimension);
    releases.clear();
    lane.advance({table.dimension, count, table.x.data() + row * table.dimension, table.y.data() + row, nullptr},
                 noise, releases);
    row += count;
  }
  releases.clear();
  lane.release_now(releases);
  return releases[0].average[0];
}

/// The paper's step sizes, η = 1/λ_max(ZᵀZ/n) and α = 2/(2 λ_max + λ_min) of Θ̂ᵀ(ZᵀZ/n)Θ̂, from the table itself. In
/// these studies they are public settings; they must never come from a private table.
inline Steps suitable_steps(const Problem& problem) {
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

inline Problem synthetic(std::size_t p, std::size_t n, std::uint64_t seed) {
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

/// The columns of a CSV by name; the file may be compressed.
inline std::vector<std::vector<double>> columns_of(const std::string& file, const std::vector<std::string>& names) {
  const auto close = [](gzFile_s* open) { gzclose(open); };
  const std::unique_ptr<gzFile_s, decltype(close)> in(gzopen(file.c_str(), "rb"), close);
  if (in == nullptr) {
    fmt::print(stderr, "reproduce_iv: cannot read {}; name its folder with --data\n", file);
    std::exit(74);
  }
  const auto next_line = [&](std::vector<std::string>& fields) {
    char text[4096];
    if (gzgets(in.get(), text, sizeof text) == nullptr) return false;
    fields.clear();
    std::string line = text;
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
    std::istringstream parts(line);
    for (std::string field; std::getline(parts, field, ',');) fields.push_back(field);
    return true;
  };
  std::vector<std::string> header;
  std::vector<std::string> fields;
  static_cast<void>(next_line(header));
  std::vector<std::vector<double>> columns(names.size());
  while (next_line(fields)) {
    for (std::size_t j = 0; j < names.size(); ++j) {
      const auto at = static_cast<std::size_t>(std::find(header.begin(), header.end(), names[j]) - header.begin());
      columns[j].push_back(std::stod(fields.at(at)));
    }
  }
  return columns;
}

/// Centres a column and, if asked to, scales it to a standard deviation of 1 (ddof 0), by the table itself, which is
/// public in these studies.
inline void center(std::vector<double>& column, bool standardise) {
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

/// A problem of one endogenous regressor. The columns are the instruments, the regressor and the outcome, all
/// centred.
inline Problem real_problem(std::vector<std::vector<double>> columns, bool standardise) {
  const std::size_t instruments = columns.size() - 2;
  for (std::size_t j = 0; j < columns.size(); ++j) center(columns[j], standardise && j < instruments);
  Problem problem{{instruments + 1, {}, {}}, instruments, 1, {}, {}};
  for (std::size_t i = 0; i < columns[0].size(); ++i) {
    for (std::size_t j = 0; j <= instruments; ++j) problem.table.x.push_back(columns[j][i]);
    problem.table.y.push_back(columns.back()[i]);
  }
  problem.two_stage = inference::two_stage_least_squares(problem.table.view(), instruments, 0).theta;
  return problem;
}

/// The problem with each column multiplied by its factor, and the outcome by its own.
inline Problem scaled(Problem problem, const std::vector<double>& factors, double of_outcome) {
  for (std::size_t i = 0; i < problem.table.x.size(); ++i) problem.table.x[i] *= factors[i % factors.size()];
  for (double& y : problem.table.y) y *= of_outcome;
  problem.two_stage = inference::two_stage_least_squares(problem.table.view(), problem.instruments, 0).theta;
  return problem;
}

inline Problem card(const std::string& folder) {
  return real_problem(
      columns_of(folder + "/card_complete_2191.csv", {"nearc2", "nearc4", "fatheduc", "motheduc", "educ", "lwage"}),
      true);
}

/// Angrist and Evans: weeks worked on a third child, with the sexes of the first two as instruments.
inline Problem angrist(const std::string& folder) {
  return real_problem(columns_of(folder + "/fertility_254654.csv.gz", {"samesex", "morekids", "weeks"}), false);
}

}  // namespace nustream::benchmarks
