// NLDP figure 2: whether a tree of the forest cover table is a lodgepole pine, by a logistic model from local
// reports.
#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "local_figure.h"
#include "nustream/inference/local_mechanism.h"
#include "nustream/inference/local_solver.h"
#include "private_path.h"

namespace nustream::benchmarks {
namespace {

using namespace nustream::inference;

constexpr Delta delta{1e-5};
constexpr std::array epsilons{20.0, 10.0, 5.0};
constexpr std::size_t kept = 44;             // features, as many as the paper keeps
constexpr std::size_t last_wilderness = 13;  // this column is 1 where the three before it are 0
constexpr double lodgepole = 2;

struct Covertype {
  std::size_t rows = 0;
  std::vector<double> x;  ///< row-major rows × kept; no row's ℓ1 norm is above 1
  std::vector<double> y;  ///< 1 for a lodgepole pine
  double l2 = 0;          ///< the largest ℓ2 norm of a row

  [[nodiscard]] std::span<const double> row(std::size_t i) const { return {x.data() + i * kept, kept}; }
};

/// The rows of the file, the cover type last; empty where it cannot be read.
std::vector<std::vector<double>> table_of(const std::string& file) {
  std::ifstream in(file);
  std::vector<std::vector<double>> rows;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    rows.emplace_back();
    for (std::string field; std::getline(fields, field, ',');) rows.back().push_back(std::stod(field));
  }
  return rows;
}

/// Brings the column to mean 0 and variance 1; one that is constant becomes 0.
void standardise(std::vector<double>& column) {
  const auto n = static_cast<double>(column.size());
  const double mean = std::accumulate(column.begin(), column.end(), 0.0) / n;
  double squares = 0;
  for (double& value : column) {
    value -= mean;
    squares += value * value;
  }
  const double scale = squares > 0 ? std::sqrt(n / squares) : 0;
  for (double& value : column) value *= scale;
}

/// The fourth wilderness, which the three others determine, and the rarest soils are left out, until 44 columns
/// remain. These are standardised, and the whole table is scaled so that its largest row has the ℓ1 norm 1. The paper
/// names none of these choices. They are taken as public.
Covertype prepared(const std::vector<std::vector<double>>& table) {
  const std::size_t all = table.front().size() - 1;
  std::vector<std::vector<double>> columns(all);
  std::vector<std::pair<std::size_t, std::size_t>> by_use;  // rows with a value other than 0, and the column
  for (std::size_t j = 0; j < all; ++j) {
    for (const std::vector<double>& row : table) columns[j].push_back(row[j]);
    if (j == last_wilderness) continue;
    by_use.emplace_back(std::ranges::count_if(columns[j], [](double value) { return value != 0; }), j);
  }
  std::ranges::sort(by_use, std::greater<>());
  Covertype found;
  found.rows = table.size();
  found.x.resize(found.rows * kept);
  for (std::size_t j = 0; j < kept; ++j) {
    std::vector<double>& column = columns[by_use[j].second];
    standardise(column);
    for (std::size_t i = 0; i < found.rows; ++i) found.x[i * kept + j] = column[i];
  }
  double l1 = 0;
  for (std::size_t i = 0; i < found.rows; ++i) {
    double sum = 0;
    for (const double value : found.row(i)) sum += std::abs(value);
    l1 = std::max(l1, sum);
    found.y.push_back(table[i].back() == lodgepole ? 1 : 0);
  }
  for (double& value : found.x) value /= l1;
  for (std::size_t i = 0; i < found.rows; ++i) {
    double squares = 0;
    for (const double value : found.row(i)) squares += value * value;
    found.l2 = std::max(found.l2, std::sqrt(squares));
  }
  return found;
}

/// The rows of one repetition in a random order: the reports, and behind them the rows that are predicted. Seven
/// tenths are for training, of which at most 10⁴ report.
struct Split {
  std::vector<std::size_t> order;
  std::size_t reports;
  std::size_t first_tested;
};

Split split_of(std::size_t rows, std::mt19937_64& random) {
  Split found{std::vector<std::size_t>(rows), 0, 7 * rows / 10};
  std::iota(found.order.begin(), found.order.end(), std::size_t{0});
  std::ranges::shuffle(found.order, random);
  found.reports = std::min<std::size_t>(10'000, found.first_tested);
  return found;
}

LocalMoments without_noise(const Covertype& table, const Split& split) {
  LocalMoments found{split.reports, std::vector<double>(kept * kept), std::vector<double>(kept)};
  const double share = 1 / static_cast<double>(split.reports);
  for (std::size_t i = 0; i < split.reports; ++i) {
    const auto x = table.row(split.order[i]);
    for (std::size_t j = 0; j < kept; ++j) {
      found.cross_moment[j] += share * x[j] * table.y[split.order[i]];
      for (std::size_t k = 0; k < kept; ++k) found.second_moment[j * kept + k] += share * x[j] * x[k];
    }
  }
  return found;
}

/// Adds the mean of the noise of all reports: one Gaussian, which has the same distribution. `seed` serves all noises
/// of a repetition, scaled.
LocalMoments with_noise(LocalMoments moments, const LocalNoise& noise, std::mt19937_64 seed) {
  std::normal_distribution<double> normal;
  const double root = std::sqrt(static_cast<double>(moments.reports));
  for (std::size_t j = 0; j < kept; ++j) {
    for (std::size_t k = j; k < kept; ++k) {
      const double drawn = noise.second_moment.value() / root * normal(seed);
      moments.second_moment[j * kept + k] += drawn;
      if (k != j) moments.second_moment[k * kept + j] += drawn;
    }
    moments.cross_moment[j] += noise.cross_moment.value() / root * normal(seed);
  }
  return moments;
}

/// Two figures of the rows that are predicted: the share of right predictions, and the mean of that share over both
/// answers, which does not depend on how frequent each answer is.
struct Accuracy {
  double plain;
  double balanced;
};

Accuracy accuracy_of(const Covertype& table, const Split& split, const std::vector<double>& model) {
  std::array<double, 2> right{};
  std::array<double, 2> count{};
  for (std::size_t i = split.first_tested; i < table.rows; ++i) {
    const std::size_t row = split.order[i];
    const auto x = table.row(row);
    const double score = std::inner_product(x.begin(), x.end(), model.begin(), 0.0);
    const std::size_t truth = table.y[row] > 0 ? 1 : 0;
    count[truth] += 1;
    right[truth] += (score > 0) == (truth == 1) ? 1 : 0;
  }
  return {(right[0] + right[1]) / (count[0] + count[1]), (right[0] / count[0] + right[1] / count[1]) / 2};
}

struct Row {
  std::string mechanism;
  double epsilon;  ///< 0: without noise
  LocalNoise noise;
  std::vector<double> plain{};
  std::vector<double> balanced{};
  std::size_t indefinite = 0;
};

LocalNoise noise_of(const Covertype& table, double epsilon, bool papers) {
  const LocalBounds bounds{.dimension = kept, .l1 = 1, .l2 = table.l2};
  return local_noise(bounds, {Epsilon{epsilon}, delta, papers ? LocalCalibration::paper : LocalCalibration::exact,
                              papers ? LocalNorm::paper : LocalNorm::l2, 0.5});
}

void play(const Covertype& table, std::uint64_t repetition, std::vector<Row>& rows) {
  std::seed_seq seeds{std::uint64_t{44}, repetition};
  std::mt19937_64 random(seeds);
  const Split split = split_of(table.rows, random);
  const LocalMoments silent = without_noise(table, split);
  std::vector<double> shown;  // the paper's public rows: "exactly the same data"
  for (std::size_t i = 0; i < split.reports; ++i) {
    const auto x = table.row(split.order[i]);
    shown.insert(shown.end(), x.begin(), x.end());
  }
  for (Row& row : rows) {
    const LocalMoments moments = row.epsilon > 0 ? with_noise(silent, row.noise, random) : silent;
    const LocalEstimate solved = solve_local(moments, row.noise, {.x = shown, .weights = {}},
                                             {.family = GlmFamily::logistic, .repair = LocalRepair::none});
    // Where there is no c, the direction alone answers: a c > 0 changes no answer.
    const Accuracy found = accuracy_of(table, split, solved.model ? *solved.model : solved.ols);
    row.plain.push_back(found.plain);
    row.balanced.push_back(found.balanced);
    row.indefinite += solved.spectrum.definite ? 0U : 1U;
  }
}

std::string json_of(const Estimate& found) {
  return fmt::format("{{\"mean\": {:.6g}, \"standard_error\": {:.2g}}}", found.mean, found.standard_error);
}

std::string json_of(const Row& row) {
  return fmt::format(
      "{{\"mechanism\": \"{}\", \"epsilon\": {}, \"accuracy\": {}, \"balanced\": {}, \"indefinite\": {}, "
      "\"repetitions\": {}}}",
      row.mechanism, row.epsilon, json_of(estimate(row.plain)), json_of(estimate(row.balanced)), row.indefinite,
      row.plain.size());
}

}  // namespace

std::optional<DrawnFigure> figure_of_covertype(const std::string& data, std::size_t repetitions) {
  const auto rows_of_file = table_of(data + "/covtype_15120.csv");
  if (rows_of_file.empty()) return std::nullopt;
  const Covertype table = prepared(rows_of_file);
  std::vector<Row> rows{{"without noise", 0, {NoiseStddev{1e-12}, NoiseStddev{1e-12}}}};
  for (const bool papers : {true, false}) {
    for (const double epsilon : epsilons) {
      rows.push_back({papers ? "paper's constants" : "exact, l2", epsilon, noise_of(table, epsilon, papers)});
    }
  }
  for (std::size_t repetition = 0; repetition < repetitions; ++repetition) play(table, repetition, rows);

  const double pines = std::accumulate(table.y.begin(), table.y.end(), 0.0) / static_cast<double>(table.rows);
  std::vector<Series> all{{"paper's constants", {}}, {"exact, l2", {}}, {"without noise", {}, false, true}};
  std::string written;
  for (const Row& row : rows) {
    written += (written.empty() ? "" : ",\n    ") + json_of(row);
    const Estimate found = estimate(row.balanced);
    if (row.epsilon > 0) {
      all[row.mechanism == "exact, l2" ? 1 : 0].points.push_back({row.epsilon, found.mean, found.standard_error});
    } else {
      for (const double epsilon : epsilons) all[2].points.push_back({epsilon, found.mean});
    }
  }
  return DrawnFigure{
      "covertype",
      fmt::format(
          "{{\"figure\": \"2\", \"delta\": {}, \"p\": {}, \"n\": {}, \"rows_of_table\": {}, \"share_of_pines\": "
          "{:.6g}, \"rows\": [\n    {}]}}\n",
          delta.value(), kept, std::min<std::size_t>(10'000, 7 * table.rows / 10), table.rows, pines, written),
      line_chart("Forest cover: right answers, mean of both classes, n = 10^4", {"epsilon"}, {"share that is right"},
                 all)};
}

}  // namespace nustream::benchmarks
