#include "local_draw.h"

#include <algorithm>
#include <cmath>

#include "nustream/noise/gaussian.h"

namespace nustream::benchmarks {
namespace {

using namespace nustream::inference;

/// How often each kind occurs among n.
std::vector<double> multinomial(const LocalDesign& design, double n, std::mt19937_64& random) {
  const std::size_t kinds = design.kinds();
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

}  // namespace

LocalDesign::LocalDesign(std::size_t dimension)
    : p(dimension), coefficient(1 / std::sqrt(static_cast<double>(dimension))), x(kinds() * dimension) {
  for (std::size_t kind = 0; kind < kinds(); ++kind) {
    for (std::size_t j = 0; j < p; ++j) x[kind * p + j] = (kind >> j & 1 ? 1.0 : -1.0) / static_cast<double>(p);
  }
}

LocalDraw::LocalDraw(const LocalDesign& design)
    : second_moment(design.p * design.p), sum(design.p), cross_moment(design.p), noise(design.numbers()) {}

void draw_records(const LocalDesign& design, double n, std::mt19937_64& random, LocalDraw& draw) {
  const std::size_t p = design.p;
  const std::vector<double> counts = multinomial(design, n, random);
  for (std::size_t kind = 0; kind < design.kinds(); ++kind) {
    const std::span<const double> row(design.x.data() + kind * p, p);
    double prediction = 0;
    for (const double entry : row) prediction += entry * design.coefficient;
    const std::binomial_distribution<std::int64_t> labels(static_cast<std::int64_t>(counts[kind]),
                                                          1 / (1 + std::exp(-prediction)));
    const auto ones = static_cast<double>(std::binomial_distribution<std::int64_t>(labels.param())(random));
    for (std::size_t i = 0; i < p; ++i) {
      for (std::size_t j = 0; j < p; ++j) draw.second_moment[i * p + j] += counts[kind] * row[i] * row[j];
      draw.sum[i] += counts[kind] * row[i];
      draw.cross_moment[i] += ones * row[i];
    }
  }
  draw_public_rows(design, n, random, draw);
}

void draw_public_rows(const LocalDesign& design, double m, std::mt19937_64& random, LocalDraw& draw) {
  draw.public_counts = multinomial(design, m, random);
}

void draw_noise(std::uint64_t reports, std::mt19937_64& random, LocalDraw& draw) {
  const std::size_t numbers = draw.noise.size();
  const std::size_t batch = numbers * noise::gaussian_chunk;  // whole reports and whole chunks
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

void draw_sum_of_noise(double n, std::mt19937_64& random, LocalDraw& draw) {
  std::normal_distribution<double> normal(0, std::sqrt(n));
  for (double& entry : draw.noise) entry = normal(random);
}

LocalMoments moments(const LocalDesign& design, const LocalDraw& draw, double n, double label_centre,
                     const LocalNoise& noise) {
  const std::size_t p = design.p;
  LocalMoments result{static_cast<std::uint64_t>(n), std::vector<double>(p * p), std::vector<double>(p)};
  std::size_t at = 0;
  for (std::size_t i = 0; i < p; ++i) {
    for (std::size_t j = i; j < p; ++j) {
      const double value = (draw.second_moment[i * p + j] + noise.second_moment.value() * draw.noise[at++]) / n;
      result.second_moment[i * p + j] = result.second_moment[j * p + i] = value;
    }
  }
  for (std::size_t j = 0; j < p; ++j) {
    const double signal = draw.cross_moment[j] - label_centre * draw.sum[j];
    result.cross_moment[j] = (signal + noise.cross_moment.value() * draw.noise[at++]) / n;
  }
  return result;
}

double relative_error(const LocalDesign& design, const LocalEstimate& estimate) {
  double largest = 0;
  for (const double slope : estimate.ols) {
    largest = std::max(largest, std::fabs(slope * estimate.scale->c - design.coefficient));
  }
  return largest / design.coefficient;
}

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

}  // namespace nustream::benchmarks
