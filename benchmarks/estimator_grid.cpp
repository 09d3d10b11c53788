// Compares what a plan predicts of four estimators of a linear model with what they do. There are 24 streams of
// independent normal rows: d of 4 or 16 coefficients, 20,000 or 100,000 records, ρ of .1 or 1, condition 1, 10 or 100
// (eigenvalues of E[xxᵀ] in a geometric sequence below 1), residual 1, and answers at a distance of 1 in random
// directions. Every setting is what moments::best_descent and best_sums choose from these figures. The error is √E
// (θ̂ − θ*)ᵀH(θ̂ − θ*) over keys.
//
// Usage: estimator_grid [KEYS [JSON file]], 20 keys by default. Exits with 1 where a prediction is off by more than a
// factor 1.5. Keys and data are fixed, so the result does not vary by chance.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "nustream/moments/choice.h"
#include "nustream/moments/lane.h"
#include "private_path.h"

namespace {

using namespace nustream;
using namespace nustream::benchmarks;

struct Point {
  std::size_t dimension;
  std::uint64_t records;
  double rho;
  double condition;
};

moments::Problem problem_of(const Point& point) {
  moments::Problem problem{{{}, 1, 1},          point.records, Rho{point.rho}, privacy::Adjacency::zero_out,
                           point.records / 100, true};
  for (std::size_t j = 0; j < point.dimension; ++j) {
    const double at = static_cast<double>(j) / static_cast<double>(point.dimension - 1);
    problem.guess.eigenvalues.push_back(std::pow(point.condition, -at));
  }
  return problem;
}

struct Stream {
  record::RowBatch rows;
  std::vector<double> answer;
};

/// A stream along the eigenvectors; no estimator here can tell the difference.
Stream stream_of(const moments::Problem& problem, std::uint64_t key) {
  std::mt19937_64 engine(key);
  std::normal_distribution<double> normal;
  const std::size_t d = problem.guess.eigenvalues.size();
  Stream stream;
  stream.rows.dimension = d;
  double squares = 0;
  for (std::size_t j = 0; j < d; ++j) {
    stream.answer.push_back(normal(engine));
    squares += stream.answer[j] * stream.answer[j];
  }
  for (double& each : stream.answer) each *= problem.guess.distance / std::sqrt(squares);
  for (std::uint64_t i = 0; i < problem.records; ++i) {
    double y = problem.guess.residual * normal(engine);
    for (std::size_t j = 0; j < d; ++j) {
      stream.rows.x.push_back(std::sqrt(problem.guess.eigenvalues[j]) * normal(engine));
      y += stream.rows.x.back() * stream.answer[j];
    }
    stream.rows.y.push_back(y);
    stream.rows.next.push_back(i + 1);
  }
  return stream;
}

double squared_error(const moments::Problem& problem, const Stream& stream, std::span<const double> theta) {
  double sum = 0;
  for (std::size_t j = 0; j < theta.size(); ++j) {
    sum += problem.guess.eigenvalues[j] * std::pow(theta[j] - stream.answer[j], 2);
  }
  return sum;
}

PathEnd descended(const moments::Problem& problem, const Stream& stream, const moments::DescentChoice& choice,
                  std::uint64_t key) {
  lane::Settings settings =
      plain_descent(problem.guess.eigenvalues.size(), choice.clip.value(), choice.step_size.value());
  settings.averaging = {descent::Averaging::Kind::tail, choice.from, 0.5};
  settings.release_every = problem.records;
  const noise::KeyBytes bytes = numbered_key(key);
  return descend(settings, stream.rows, noise::Correlation{noise::Rational::nu_ftrl(choice.nu)}, problem.rho, &bytes);
}

std::vector<double> solved(const moments::Problem& problem, const Stream& stream, const moments::SumsChoice& choice,
                           std::uint64_t key) {
  const moments::Settings settings = moments::sums_settings(problem, choice);
  const std::vector<noise::Grid> grids = moments::grids(settings);
  const std::size_t d = problem.guess.eigenvalues.size();
  const std::vector<std::size_t> entries{d * (d + 1) / 2, d};
  const std::uint64_t releases = problem.records / problem.every;
  std::vector<std::vector<std::int64_t>> units;
  for (std::size_t block = 0; block < grids.size(); ++block) {
    const noise::Stage stage{LaneId{0}, EpochId{0}, static_cast<std::uint32_t>(block)};
    noise::NoiseSource source(settings.mechanism.correlation, noise::GeneratorKind::automatic, entries[block],
                              noise::first_checkpoint(numbered_key(key), stage), StepIndex{0});
    std::vector<std::int64_t>& all = units.emplace_back();
    while (all.size() < releases * entries[block]) {
      const noise::CorrelatedBlock next = source.next();
      const std::size_t before = all.size();
      all.resize(before + next.z.size());
      grids[block].round_noise(next.z, std::span(all).subspan(before));
    }
  }
  std::vector<noise::GridNoise> noise;
  for (std::size_t block = 0; block < grids.size(); ++block) {
    noise.push_back({StepIndex{0}, entries[block], units[block]});
  }
  moments::Lane lane(settings, Position{0});
  moments::Releases found;
  lane.advance(record::slice(stream.rows, 0, releases * problem.every), noise, found);
  return found.back().theta;
}

struct Outcome {
  const char* name;
  double predicted;
  double squares = 0;
  [[nodiscard]] double measured(std::uint64_t keys) const { return std::sqrt(squares / static_cast<double>(keys)); }
};

std::vector<Outcome> outcomes_of(const Point& point, std::uint64_t keys) {
  const moments::Problem problem = problem_of(point);
  const moments::DescentChoice last = moments::best_descent(problem, false);
  const moments::DescentChoice average = moments::best_descent(problem, true);
  const moments::SumsChoice plain = *moments::best_sums(problem, false);
  const moments::SumsChoice staged = *moments::best_sums(problem, true);
  std::vector<Outcome> outcomes{{"last iterate", last.error.root()},
                                {"average", average.error.root()},
                                {"moments", plain.error.root()},
                                {"moments, recentred", staged.error.root()}};
  for (std::uint64_t key = 1; key <= keys; ++key) {
    const Stream stream = stream_of(problem, key);
    const auto add = [&](std::size_t at, std::span<const double> theta) {
      outcomes[at].squares += squared_error(problem, stream, theta);
    };
    add(0, descended(problem, stream, last, key).last);
    add(1, descended(problem, stream, average, key).average);
    add(2, solved(problem, stream, plain, key));
    add(3, solved(problem, stream, staged, key));
  }
  return outcomes;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t keys = argc > 1 ? std::max<std::uint64_t>(1, std::strtoull(argv[1], nullptr, 10)) : 20;
  std::string rows;
  double worst = 1;
  std::uint64_t chosen_is_least = 0;
  std::uint64_t points = 0;
  double dearest = 1;  // error of what was chosen over the least error
  for (const std::size_t dimension : {std::size_t{4}, std::size_t{16}}) {
    for (const std::uint64_t records : {20'000U, 100'000U}) {
      for (const double rho : {0.1, 1.0}) {
        for (const double condition : {1.0, 10.0, 100.0}) {
          const std::vector<Outcome> outcomes = outcomes_of({dimension, records, rho, condition}, keys);
          const auto chosen = std::ranges::min_element(outcomes, {}, &Outcome::predicted);
          const auto least =
              std::ranges::min_element(outcomes, {}, [&](const Outcome& each) { return each.measured(keys); });
          if (chosen == least) ++chosen_is_least;
          dearest = std::max(dearest, chosen->measured(keys) / least->measured(keys));
          rows += fmt::format(
              "{}\n  {{\"dimension\": {}, \"records\": {}, \"rho\": {}, \"condition\": {}, \"chosen\": "
              "\"{}\", \"least\": \"{}\", \"estimators\": [",
              points++ == 0 ? "" : ",", dimension, records, rho, condition, chosen->name, least->name);
          for (const Outcome& each : outcomes) {
            const double ratio = each.measured(keys) / each.predicted;
            worst = std::max({worst, ratio, 1 / ratio});
            rows += fmt::format(
                "{}\n    {{\"name\": \"{}\", \"predicted\": {:.4g}, \"measured\": {:.4g}, \"ratio\": {:.3f}}}",
                &each == outcomes.data() ? "" : ",", each.name, each.predicted, each.measured(keys), ratio);
          }
          rows += "]}";
          std::fprintf(stderr, "%s\n", rows.substr(rows.rfind("\n  {")).c_str());
        }
      }
    }
  }
  std::FILE* out = argc > 2 ? std::fopen(argv[2], "w") : stdout;
  if (out == nullptr) return 74;
  fmt::print(out,
             "{{\"figure\": \"predicted and measured errors of four estimators\", \"keys\": {}, \"points\": {}, "
             "\"worst_factor\": {:.3f}, \"chosen_is_least\": {}, \"dearest_choice\": {:.3f}, \"rows\": [{}]}}\n",
             keys, points, worst, chosen_is_least, dearest, rows);
  return worst <= 1.5 ? 0 : 1;
}
