// A backup is restored and resumed, by the command with a key file. The noise that it draws after its last step is
// nobody else's, so that two releases of one step differ by noise as well as by their records.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <simdjson.h>

#include "journal/state_record.h"
#include "replay_world.h"
#include "secrets/key_file.h"

namespace nustream::tests {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t copied_at = 1000;
constexpr std::size_t records = 2000;
constexpr double step_size = 0.01;
// There is no witness, which would refuse the restored copy.
const std::vector<std::string> settings{"--set", "release.every=1", "--set", "state.witness=none"};

std::vector<std::string> with(std::vector<std::string> more) {
  more.insert(more.end(), settings.begin(), settings.end());
  return more;
}

/// θ of the only coefficient after each step.
std::vector<double> path_of(const ReplayWorld& world, const std::string& state) {
  std::vector<double> path;
  simdjson::dom::parser parser;
  std::istringstream lines(world.releases(state));
  for (std::string line; std::getline(lines, line);) {
    const simdjson::dom::element release = parser.parse(line);
    if (release["step"].get_uint64().value() == path.size() + 1) {
      path.push_back(release["estimate"]["x"].get_double().value());
    }
  }
  return path;
}

void copy_folder(const ReplayWorld& world, const std::string& from, const std::string& to) {
  fs::remove_all(world.path(to));
  fs::copy(world.path(from), world.path(to), fs::copy_options::recursive | fs::copy_options::copy_symlinks);
}

/// Changes the fields of one record, which is read after the copy was made.
void change_a_record(const ReplayWorld& world, std::size_t number) {
  std::istringstream lines(read_file(world.path("rows.csv")));
  std::string text;
  std::size_t at = 0;
  for (std::string line; std::getline(lines, line); ++at) text += (at == number + 1 ? "2.5,-3" : line) + "\n";
  std::ofstream(world.path("rows.csv"), std::ios::binary) << text;
}

// The step at θ moves it by η times gradient and noise. Once the paths differ, so do the gradients, but by at most 2G
// each. With one key's noise, the difference of the first step after the copy would be the records' alone, and zero
// where they are the same.
TEST(Restored, BackupDrawsOtherNoiseFromItsNextStepOn) {
  const ReplayWorld world(records);
  ASSERT_EQ(world.run(with({"--to", std::to_string(copied_at)})).code, 0);
  copy_folder(world, "state", "backup");
  ASSERT_EQ(world.run(with({"--resume"})).code, 0);
  copy_folder(world, "state", "original");
  change_a_record(world, 1500);
  copy_folder(world, "backup", "state");
  const CommandResult resumed = world.run(with({"--resume"}));
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  const std::vector<double> one = path_of(world, "original");
  const std::vector<double> two = path_of(world, "state");
  ASSERT_EQ(one.size(), records);
  ASSERT_EQ(two.size(), records);
  for (std::size_t step = 0; step < records; ++step) {
    ASSERT_EQ(one[step] == two[step], step < copied_at) << step + 1;
  }
  // The paths differ by more than a step's rounding from the very first step on: the standard deviation of the
  // noises' difference is above 1 G.
  std::size_t far = 0;
  for (std::size_t step = copied_at; step < records; ++step) {
    const double moved = (two[step] - one[step]) - (step > copied_at ? two[step - 1] - one[step - 1] : 0);
    if (std::abs(moved) > 0.1 * step_size) ++far;
  }
  EXPECT_GT(far, (records - copied_at) * 8 / 10);
}

// The copy is resumed over another input, so that nobody's records are in it, and yields noise. None of it is that of
// the run from which the copy was taken.
TEST(Restored, BackupOpensNoLaterReleases) {
  const ReplayWorld world(records);
  ASSERT_EQ(world.run(with({"--to", std::to_string(copied_at)})).code, 0);
  copy_folder(world, "state", "backup");
  ASSERT_EQ(world.run(with({"--resume"})).code, 0);
  const secrets::Keyring keys = secrets::load_key_file(world.path("state/key"));
  const auto state_of = [&](const std::string& folder) {
    return journal::open_state(keys, read_file(world.path(folder + "/state")));
  };
  const journal::State copy = state_of("backup");
  const journal::State later = state_of("state");
  ASSERT_EQ(copy.identity.steps, StepCount{copied_at});
  ASSERT_EQ(later.identity.steps, StepCount{records});
  const noise::Segment& before = copy.record.noise.stages.at(0).segments.at(0);
  const noise::Segment& after = later.record.noise.stages.at(0).segments.at(0);
  EXPECT_EQ(before.first, StepIndex{0});
  EXPECT_EQ(after.first, StepIndex{copied_at});  // it was resumed there, in the middle of a block
  EXPECT_NE(before.chain_key, after.chain_key);
}

// Under an insecure seed nothing is mixed in: equal input gives equal bytes, whatever was restored.
TEST(Restored, BackupUnderAnInsecureSeedGivesTheSameBytes) {
  const ReplayWorld world(records);
  const std::vector<std::string> seeded{"--insecure-seed", "5"};
  const auto also = [&](std::vector<std::string> more) {
    more.insert(more.end(), seeded.begin(), seeded.end());
    return with(std::move(more));
  };
  ASSERT_EQ(world.run(also({"--to", std::to_string(copied_at)})).code, 0);
  copy_folder(world, "state", "backup");
  ASSERT_EQ(world.run(also({"--resume"})).code, 0);
  const std::string releases = world.releases();
  copy_folder(world, "backup", "state");
  ASSERT_EQ(world.run(also({"--resume"})).code, 0);
  EXPECT_EQ(world.releases(), releases);
}

}  // namespace
}  // namespace nustream::tests
