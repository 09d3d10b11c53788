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

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "campaign.h"
#include "command.h"
#include "config/mechanism.h"
#include "engine/noise_feed.h"
#include "journal/state_record.h"
#include "nustream/lane/lane.h"
#include "publish/release_json.h"
#include "residuals.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

using namespace residuals;

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
      // The second epoch goes on from the last release of the first one.
      std::vector<double> before = path[epoch * steps];
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
