// Streams of normal rows in their eigenvectors, and the estimators that a plan chooses among, run over them.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "nustream/moments/choice.h"
#include "private_path.h"
#include "sums_path.h"

namespace nustream::benchmarks {

/// A stream of normal rows: the eigenvalues of E[xxᵀ] fall from 1 to 1/condition in a geometric sequence.
struct Point {
  std::size_t dimension;
  std::uint64_t records;
  double rho;
  double condition;
};

/// What a plan is told of the stream: residuals of deviation 1, and an answer at a distance of 1.
inline moments::Problem problem_of(const Point& point) {
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

/// A stream whose coordinates are along the eigenvectors of E[xxᵀ]. No estimator here depends on the choice of axes.
inline Stream stream_of(const moments::Problem& problem, std::uint64_t key) {
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

/// (θ − θ*)ᵀH(θ − θ*).
inline double squared_error(const moments::Problem& problem, const Stream& stream, std::span<const double> theta) {
  double sum = 0;
  for (std::size_t j = 0; j < theta.size(); ++j) {
    sum += problem.guess.eigenvalues[j] * std::pow(theta[j] - stream.answer[j], 2);
  }
  return sum;
}

/// A descent with the settings of `choice` over the stream.
inline PathEnd descended(const moments::Problem& problem, const Stream& stream, const moments::DescentChoice& choice,
                         std::uint64_t key) {
  lane::Settings settings =
      plain_descent(problem.guess.eigenvalues.size(), choice.clip.value(), choice.step_size.value());
  settings.averaging = {descent::Averaging::Kind::tail, choice.from, 0.5};
  settings.release_every = problem.records;
  const noise::KeyBytes bytes = numbered_key(key);
  return descend(settings, stream.rows, noise::Correlation{noise::Rational::nu_ftrl(choice.nu)}, problem.rho, &bytes);
}

/// The answer of running sums with the settings of `choice`.
inline std::vector<double> solved(const moments::Problem& problem, const Stream& stream,
                                  const moments::SumsChoice& choice, std::uint64_t key) {
  return last_release(moments::sums_settings(problem, choice), stream.rows, key).theta;
}

}  // namespace nustream::benchmarks
