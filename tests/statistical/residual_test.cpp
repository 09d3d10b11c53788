// The noise, recovered from releases by somebody who knows every record: (θ_t − θ_{t+1})/η less the clipped gradient,
// whitened with C = B⁻¹, must be independent N(0, σ²Δ²) over steps, coordinates, lanes and epochs, and from one block
// of noise to the next. A lane shows here if its other records leak into a step, if its noise is that of another B,
// or if its keys are used twice. That concerns the keys of lanes and epochs, and those of blocks where games are
// longer than a block.
//
// The library's own lane runs under numbered keys. Each of the up to 17 hypotheses of a test fails for one key in a
// million, and the keys are fixed, so that what passes once passes always. The real command runs under a fresh key:
// one run in 58,000 fails by chance.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <Eigen/Dense>

#include "campaign.h"
#include "command.h"
#include "config/mechanism.h"
#include "engine/noise_feed.h"
#include "journal/state_record.h"
#include "noise_statistics.h"
#include "nustream/lane/lane.h"
#include "nustream/noise/source.h"
#include "publish/release_json.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

using testing::ProductSum;

constexpr std::size_t d = 3;  // of x0, x1 and the intercept; the intercept is released first
constexpr double step_size = 0.05;
constexpr double clip = 1.0;

/// The steps of a block of noise, and those of the games that see three blocks.
const std::size_t block = noise::steps_per_block(d);
const std::size_t three_blocks = 3 * block;

struct Record {
  double x0;
  double x1;
  double y;
};

/// Records, some of which have long gradients that are clipped.
std::vector<Record> records(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<double> normal;
  std::vector<Record> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back({normal(bits), normal(bits), 3 * normal(bits)});
  return all;
}

std::string settings(const std::string& correlation) {
  return fmt::format(R"([stream]
name = "residuals"
input = "rows.csv"
[target]
column = "y"
[[features]]
column = "x0"
[[features]]
column = "x1"
[descent]
step_size = {}
clip_norm = {}
[privacy]
rho = 0.5
delta = 1e-6
[noise]
{}
[release]
every = 1
)",
                     step_size, clip, correlation);
}

/// The clipped gradient of ½(θᵀx − y)², written once more, in the library's order: intercept, x0, x1.
std::vector<double> clipped_gradient(const std::vector<double>& theta, const Record& record) {
  const double x[d] = {1, record.x0, record.x1};
  double residual = -record.y;
  double square = 0;
  for (std::size_t j = 0; j < d; ++j) {
    residual += theta[j] * x[j];
    square += x[j] * x[j];
  }
  const double length = std::abs(residual) * std::sqrt(square);
  const double factor = length > clip ? clip / length : 1;
  return {factor * residual, factor * residual * x[1], factor * residual * x[2]};
}

/// w = B⁻¹z/stddev of one lane and epoch, as steps × d.
class Whitened {
 public:
  Whitened(const config::Mechanism& mechanism, std::size_t steps) : stddev_(mechanism.main().stddev.value()) {
    const noise::Correlation& correlation = mechanism.main().correlation;
    if (correlation.toeplitz()) {
      beta_ = noise::noise_coefficients(correlation, steps);
      return;
    }
    // A tree is no Toeplitz matrix and has more columns than rows: the lower triangular L with LLᵀ = BBᵀ takes its
    // place.
    const std::vector<double> dense = noise::dense_noise_matrix(correlation, steps);
    const auto rows = static_cast<Eigen::Index>(steps);
    const Eigen::Map<const RowMajor> b(dense.data(), rows, static_cast<Eigen::Index>(dense.size()) / rows);
    factor_ = RowMajor(b * b.transpose()).llt().matrixL();
  }

  void step(const std::vector<double>& before, const std::vector<double>& after, const Record& record) {
    const std::vector<double> gradient = clipped_gradient(before, record);
    const std::size_t t = w_.size() / d;
    std::array<double, d> w{};
    for (std::size_t j = 0; j < d; ++j) w[j] = ((before[j] - after[j]) / step_size - gradient[j]) / stddev_;
    for (std::size_t k = 1; k <= t; ++k) {
      for (std::size_t j = 0; j < d; ++j) w[j] -= coefficient(t, k) * w_[(t - k) * d + j];
    }
    for (std::size_t j = 0; j < d; ++j) w_.push_back(w[j] / coefficient(t, 0));
  }
  [[nodiscard]] const std::vector<double>& values() const noexcept { return w_; }

 private:
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  /// The coefficient with which the noise of step t − k is in that of step t.
  [[nodiscard]] double coefficient(std::size_t t, std::size_t k) const {
    if (!beta_.empty()) return beta_[k];
    return factor_(static_cast<Eigen::Index>(t), static_cast<Eigen::Index>(t - k));
  }

  std::vector<double> beta_;
  RowMajor factor_;
  double stddev_;
  std::vector<double> w_;
};

/// What is tested about all residuals together.
class Hypotheses {
 public:
  // The bins of Φ(w): the empirical distribution is known at their borders alone.
  static constexpr std::size_t bins = 4096;

  /// Adds the four streams of one key, as of[2 · epoch + lane].
  void add(const std::vector<Whitened>& of) {
    for (const Whitened& each : of) add_stream(each.values());
    const auto pair = [&](ProductSum& products, std::size_t a, std::size_t b) {
      for (std::size_t i = 0; i < of[a].values().size(); ++i) products.add(of[a].values()[i], of[b].values()[i]);
    };
    pair(lanes_, 0, 1);
    pair(lanes_, 2, 3);
    pair(epochs_, 0, 2);
    pair(epochs_, 1, 3);
    pair(lanes_and_epochs_, 0, 3);
    pair(lanes_and_epochs_, 1, 2);
    for (std::size_t a = 0; a < of.size(); ++a) {
      for (std::size_t b = 0; b < of.size(); ++b) {
        if (a != b) add_shifted(of[a].values(), of[b].values());
      }
    }
  }

  void expect(double deviations, double kolmogorov) const {
    const auto n = static_cast<double>(count_);
    ::testing::Test::RecordProperty("residuals", std::to_string(count_));
    ::testing::Test::RecordProperty("sigma_over_claimed", fmt::format("{:.6f}", std::sqrt(squares_ / n)));
    // The variance of the square of N(0, 1) is 2: a million residuals fix σ to .07%, ten million to .022% (one
    // standard error).
    EXPECT_LT(std::abs(squares_ / n - 1) * std::sqrt(n / 2), deviations) << "sigma off by " << squares_ / n / 2 - 0.5;
    // A fourth power has mean 3 and variance 96. It tests the tails, for which the distribution has too few bins.
    EXPECT_LT(std::abs(fourth_powers_ / n - 3) * std::sqrt(n / 96), deviations) << "tails of " << fourth_powers_ / n;
    double largest = 0;
    double below = 0;
    for (std::size_t bin = 0; bin < bins; ++bin) {
      below += static_cast<double>(histogram_[bin]);
      largest = std::max(largest, std::abs(below / n - static_cast<double>(bin + 1) / bins));
    }
    EXPECT_LT(largest * std::sqrt(n), kolmogorov) << "not normal";
    const auto expect_independent = [&](const ProductSum& products, const std::string& of_what) {
      EXPECT_LT(std::abs(products.deviations()), deviations) << of_what;
    };
    for (const auto& [lag, products] : steps_) expect_independent(products, fmt::format("steps at lag {}", lag));
    for (const auto& [pair, products] : coordinates_) {
      expect_independent(products, fmt::format("coordinates {} and {}", pair.first, pair.second));
    }
    expect_independent(lanes_, "lanes");
    expect_independent(epochs_, "epochs");
    expect_independent(lanes_and_epochs_, "another lane of another epoch");
    for (const auto& [lag, products] : shifted_) {
      expect_independent(products, fmt::format("lanes and epochs, one {} steps behind the other", lag));
    }
  }

  /// The number of products of residuals that are `blocks` blocks apart.
  [[nodiscard]] std::uint64_t pairs_of_blocks(std::size_t blocks) const {
    const auto found = steps_.find(blocks * block);
    return found == steps_.end() ? 0 : found->second.count();
  }

 private:
  void add_stream(const std::vector<double>& w) {
    for (std::size_t i = 0; i < w.size(); ++i) {
      ++count_;
      squares_ += w[i] * w[i];
      fourth_powers_ += w[i] * w[i] * w[i] * w[i];
      const double below = 1 - testing::normal_tail(w[i]);
      ++histogram_[std::min(bins - 1, static_cast<std::size_t>(below * bins))];
    }
    // Neighbours, and the same place of the block before and of the one before that.
    for (const std::size_t lag : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{4}, block, 2 * block}) {
      if (lag * d >= w.size()) break;  // without such a pair there is no such hypothesis
      ProductSum& products = steps_[lag];
      for (std::size_t i = lag * d; i < w.size(); ++i) products.add(w[i], w[i - lag * d]);
    }
    for (std::size_t j = 0; j < d; ++j) {
      for (std::size_t k = j + 1; k < d; ++k) {
        ProductSum& products = coordinates_[{j, k}];
        for (std::size_t row = 0; row < w.size(); row += d) products.add(w[row + j], w[row + k]);
      }
    }
  }

  /// Tests for a stream that draws the noise of another one a step, or a block, later.
  void add_shifted(const std::vector<double>& ahead, const std::vector<double>& behind) {
    for (const std::size_t lag : {std::size_t{1}, block}) {
      if (lag * d >= ahead.size()) break;
      ProductSum& products = shifted_[lag];
      for (std::size_t i = lag * d; i < ahead.size(); ++i) products.add(behind[i], ahead[i - lag * d]);
    }
  }

  std::uint64_t count_ = 0;
  double squares_ = 0;
  double fourth_powers_ = 0;
  std::vector<std::uint64_t> histogram_ = std::vector<std::uint64_t>(bins);
  std::map<std::size_t, ProductSum> steps_;  // by lag
  std::map<std::pair<std::size_t, std::size_t>, ProductSum> coordinates_;
  ProductSum lanes_;
  ProductSum epochs_;
  ProductSum lanes_and_epochs_;
  std::map<std::size_t, ProductSum> shifted_;  // by lag
};

/// Runs the lane as it is and whitens its releases as the encoder hands them on. `whitened` has no step yet.
Whitened played(const config::Config& config, const config::Mechanism& mechanism, Whitened whitened,
                const std::vector<Record>& rows, LaneId lane_id, EpochId epoch, std::uint64_t key_number) {
  record::RowBatch batch;
  batch.dimension = d;
  for (const Record& row : rows) {
    batch.x.insert(batch.x.end(), {1.0, row.x0, row.x1});
    batch.y.push_back(row.y);
    batch.next.push_back(batch.y.size());
  }
  noise::KeyBytes key{};
  for (std::size_t i = 0; i < 8; ++i) key[i] = static_cast<std::uint8_t>(key_number >> (8 * i));
  key[31] = 7;
  engine::NoiseFeed feed(mechanism, journal::first_checkpoints(key, lane_id, epoch, mechanism.stages.size()),
                         StepIndex{0}, std::pmr::get_default_resource(), {}, StepCount{rows.size()});
  lane::Lane lane(config.descent, mechanism.grids, Position{0});
  lane::Releases releases;
  for (std::size_t taken = 0; taken < rows.size();) {
    const auto noise = feed.take(rows.size() - taken);
    const std::size_t count = noise.front().units.size() / d;
    lane.advance(record::slice(batch, taken, taken + count), noise, releases);
    taken += count;
  }
  std::vector<double> before(d, 0.0);
  for (std::size_t t = 0; t < rows.size(); ++t) {
    const std::vector<double> after(releases[t].theta.begin(), releases[t].theta.end());
    whitened.step(before, after, rows[t]);
    before = after;
  }
  return whitened;
}

/// The parameter is the section [noise] of each test; {} stands for the number of steps.
class Residuals : public ::testing::TestWithParam<const char*> {};

Hypotheses residuals_of(const std::string& correlation, std::size_t steps, int keys) {
  const TemporaryFolder folder;
  const std::string noise = fmt::format(fmt::runtime(correlation), steps);
  const config::Config config = config::read_config(folder.write("stream.toml", settings(noise)), {});
  const config::Mechanism mechanism = make_mechanism(config, privacy::Participation::once());
  const Whitened none(mechanism, steps);
  Hypotheses hypotheses;
  // Each correlation has keys of its own, because under equal keys the residuals would be equal.
  std::uint64_t first_key = 0;
  for (const char c : correlation) first_key = (31 * first_key + static_cast<unsigned char>(c)) % 1'000'000;
  first_key *= 1'000'000;
  for (std::uint64_t key = first_key; key < first_key + static_cast<std::uint64_t>(keys); ++key) {
    // Two lanes and two epochs under one key have the same records, so that noise which they share would show at
    // once.
    const std::vector<Record> rows = records(steps, key);
    std::vector<Whitened> of;
    for (const std::uint32_t epoch : {0U, 1U}) {
      for (const std::uint32_t lane : {0U, 1U}) {
        of.push_back(played(config, mechanism, none, rows, LaneId{lane}, EpochId{epoch}, key));
      }
    }
    hypotheses.add(of);
  }
  return hypotheses;
}

TEST_P(Residuals, OfAKnownStreamAreIndependentNormalOfTheClaimedSize) {
  // Four streams for each key give 1e7 residuals.
  residuals_of(GetParam(), 256, scaled(3256, 330)).expect(testing::deviations_allowed, testing::kolmogorov_allowed);
}

// Trees are tested in short games alone, because whitening takes a dense factor.
TEST(TreeResiduals, OfAKnownStreamAreIndependentNormalOfTheClaimedSize) {
  residuals_of("correlation = \"tree\"\nheight = 8", 256, scaled(3256, 330))
      .expect(testing::deviations_allowed, testing::kolmogorov_allowed);
}

// In CI there are 98,304 products of blocks that follow each other, among which a correlation of 1.6% shows; in the
// campaign one of .2% does.
TEST_P(Residuals, AreIndependentFromBlockToBlock) {
  const int keys = scaled(68, 1);
  const Hypotheses hypotheses = residuals_of(GetParam(), three_blocks, keys);
  const std::uint64_t in_a_block = static_cast<std::uint64_t>(keys) * 4 * block * d;
  EXPECT_EQ(hypotheses.pairs_of_blocks(1), 2 * in_a_block);
  EXPECT_EQ(hypotheses.pairs_of_blocks(2), in_a_block);
  hypotheses.expect(testing::deviations_allowed, testing::kolmogorov_allowed);
}

INSTANTIATE_TEST_SUITE_P(Of, Residuals,
                         ::testing::Values("nu = 0.01", "correlation = \"independent\"",
                                           "correlation = \"nu\"\nnu = 0.01\nhorizon = {}",
                                           "correlation = \"windowed\"\nnu = 0.01\nwindow = 16"));

/// θ of every step of a release file, in the library's order.
std::vector<std::vector<double>> path_of(const std::string& file) {
  std::vector<std::vector<double>> path{std::vector<double>(d, 0.0)};
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const auto release = publish::read_release(line);
    EXPECT_TRUE(release) << line;
    if (release->tag == "end" && release->step < path.size()) continue;
    path.emplace_back();
    for (const auto& [name, value] : release->estimate) path.back().push_back(value);
  }
  return path;
}

/// Where the command's noise comes from. Under a key of the system the chain heals by fresh bytes at every block
/// border, so that a chain which stood still would not show. Under a seed nothing is mixed in, and the chain alone
/// separates the blocks.
class CommandResiduals : public ::testing::TestWithParam<std::vector<std::string>> {};

// The command reads text and writes JSON, for two lanes and two epochs of each, in files of their own.
TEST_P(CommandResiduals, AreThoseOfItsClaim) {
  const std::size_t steps = three_blocks;
  const TemporaryFolder folder;
  const std::string file = folder.write("stream.toml", settings("nu = 0.01"));
  const std::string key = (folder.path() / "key").string();
  const std::vector<Record> rows = records(2 * steps, 99);
  std::string csv = "x0,x1,y\n";
  for (const Record& row : rows) csv += fmt::format("{},{},{}\n", row.x0, row.x1, row.y);
  folder.write("rows.csv", csv);
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", key}).code, 0);
  const config::Config config = config::read_config(file, {});
  const config::Mechanism mechanism = make_mechanism(config, privacy::Participation::once());
  std::vector<Whitened> of(4, Whitened(mechanism, steps));
  for (const std::size_t lane : {0U, 1U}) {
    const std::string state = (folder.path() / fmt::format("state{}", lane)).string();
    const std::string places = fmt::format("state={{directory=\"{}\",key_file=\"{}\"}}", state, key);
    const std::vector<std::string> common{"replay", file, "--quiet", fmt::format("--lane={}", lane), "--set", places};
    const auto run = [&](std::vector<std::string> more) {
      more.insert(more.begin(), common.begin(), common.end());
      more.insert(more.end(), GetParam().begin(), GetParam().end());
      const CommandResult result = run_command(NUSTREAM_COMMAND, more);
      ASSERT_EQ(result.code, 0) << result.err;
    };
    run({"--to", std::to_string(steps)});
    run({"--new-epoch", "--to", std::to_string(2 * steps)});
    std::vector<std::vector<double>> path = path_of(state + "/releases.jsonl");
    ASSERT_EQ(path.size(), 2 * steps + 1);
    for (const std::size_t epoch : {0U, 1U}) {
      std::vector<double> before(d, 0.0);  // every epoch begins anew
      for (std::size_t t = epoch * steps; t < (epoch + 1) * steps; ++t) {
        of[2 * epoch + lane].step(before, path[t + 1], rows[t]);
        before = path[t + 1];
      }
    }
  }
  Hypotheses hypotheses;
  hypotheses.add(of);
  hypotheses.expect(testing::deviations_allowed, testing::kolmogorov_allowed);
}

INSTANTIATE_TEST_SUITE_P(Of, CommandResiduals,
                         ::testing::Values(std::vector<std::string>{},
                                           std::vector<std::string>{"--insecure-seed", "24"}));

}  // namespace
}  // namespace nustream::tests
