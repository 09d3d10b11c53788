// A new epoch begins where the last published release is, and at nothing that was not published.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "publish/release_json.h"
#include "replay_inspect.h"

namespace nustream::tests {
namespace {

using publish::ShownRelease;
using ::testing::HasSubstr;

std::vector<ShownRelease> releases_of(const ReplayWorld& world) {
  std::vector<ShownRelease> all;
  std::string_view text;
  const std::string lines = world.releases();
  for (text = lines; !text.empty(); text.remove_prefix(text.find('\n') + 1)) {
    all.push_back(publish::read_release(text.substr(0, text.find('\n'))).value());
  }
  return all;
}

/// The first release of epoch `epoch`.
ShownRelease first_of(const std::vector<ShownRelease>& all, std::uint32_t epoch) {
  for (const ShownRelease& release : all) {
    if (release.epoch == EpochId{epoch}) return release;
  }
  return {};
}

/// The steps are so small that the first release of an epoch shows where it began.
const std::vector<std::string> standing_still{"--set", "descent.step_size=1e-9", "--set", "release.every=1"};

std::vector<std::string> and_standing_still(std::vector<std::string> more) {
  more.insert(more.end(), standing_still.begin(), standing_still.end());
  return more;
}

void expect_begins_at(const ShownRelease& begun, const std::vector<std::pair<std::string, double>>& values) {
  ASSERT_EQ(begun.estimate.size(), values.size());
  for (std::size_t j = 0; j < values.size(); ++j) {
    EXPECT_EQ(begun.estimate[j].first, values[j].first);
    EXPECT_NEAR(begun.estimate[j].second, values[j].second, 1e-6);
  }
}

TEST(GoingOn, ANewEpochBeginsAtTheLastRelease) {
  const ReplayWorld world(3000);
  ASSERT_EQ(world.run({"--to", "1000"}).code, 0);
  const CommandResult result = world.run(and_standing_still({"--new-epoch", "--to", "1010"}));
  ASSERT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("epoch 1 goes on from the release at step 1000 of epoch 0"));
  const auto all = releases_of(world);
  const ShownRelease begun = first_of(all, 1);
  EXPECT_EQ(begun.step, 1U);
  expect_begins_at(begun, all[9].estimate);
  ASSERT_GT(std::abs(all[9].estimate[0].second), 1e-3) << "another start than zero";
}

// A budget stops an epoch at a step that is not released. Its iterate would see through the noise that hides it in
// the next epoch's releases.
TEST(GoingOn, NothingIsTakenFromAnIterateThatWasNotReleased) {
  const ReplayWorld world(3000);
  ASSERT_EQ(world.run({"--set", "privacy.budget=0.499", "--set", "release.every=70"}).code, 73);
  const auto before = releases_of(world);
  ASSERT_FALSE(before.empty());
  simdjson::dom::parser parser;
  ASSERT_GT(inspect(world, parser, "state")["steps"].get_uint64().value(), before.back().step)
      << "steps that no release shows";
  ASSERT_EQ(world.run(and_standing_still({"--new-epoch", "--set", "privacy.rho=0.25"})).code, 0);
  expect_begins_at(first_of(releases_of(world), 1), before.back().estimate);
}

TEST(GoingOn, FromStartBeginsAtTheSettingsOwn) {
  const ReplayWorld world(3000);
  ASSERT_EQ(world.run({"--to", "1000"}).code, 0);
  const CommandResult result = world.run(and_standing_still({"--new-epoch", "--from-start", "--to", "1010"}));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("epoch 1 begins at descent.start, whatever was released before it"));
  for (const auto& [name, value] : first_of(releases_of(world), 1).estimate) EXPECT_NEAR(value, 0, 1e-6) << name;
  EXPECT_EQ(world.run({"--from-start"}, "other").code, 64) << "only with --new-epoch";
}

TEST(GoingOn, OtherCentresAndScalesAreOfTheSameModel) {
  const ReplayWorld world(3000);
  ASSERT_EQ(world.run({"--to", "1000"}).code, 0);
  std::string rescaled = read_file(world.config());
  const std::string feature = "[[features]]\ncolumn = \"x\"\n";
  rescaled.replace(rescaled.find(feature), feature.size(), feature + "center = 0.5\nscale = 4\n");
  world.write("stream.toml", rescaled);
  const CommandResult result = world.run(and_standing_still({"--new-epoch", "--to", "1010"}));
  ASSERT_EQ(result.code, 0) << result.err;
  const auto all = releases_of(world);
  expect_begins_at(first_of(all, 1), all[9].estimate);
}

TEST(GoingOn, OtherFeaturesAreRefusedByName) {
  const ReplayWorld world(3000);
  ASSERT_EQ(world.run({"--to", "1000"}).code, 0);
  std::string renamed = read_file(world.config());
  const std::string feature = "[[features]]\ncolumn = \"x\"\n";
  renamed.replace(renamed.find(feature), feature.size(), feature + "name = \"z\"\n");
  world.write("stream.toml", renamed);
  const std::string before = world.releases();
  const CommandResult refused = world.run({"--new-epoch"});
  EXPECT_EQ(refused.code, 65) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("it has no 'z'"));
  EXPECT_THAT(refused.err, HasSubstr("--from-start"));
  EXPECT_EQ(world.releases(), before);
  EXPECT_EQ(world.run({"--new-epoch", "--from-start"}).code, 0);
}

// The name and its place are as before, so that only what the release says about its model can tell.
TEST(GoingOn, AnotherTransformUnderTheSameNameIsRefused) {
  const ReplayWorld world(3000);
  ASSERT_EQ(world.run({"--to", "1000"}).code, 0);
  const std::vector<std::string> transformed{"--new-epoch", "--set", "features.0.transform=log1p", "--set",
                                             "features.0.name=x"};
  const CommandResult refused = world.run(transformed);
  EXPECT_EQ(refused.code, 65) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("of other features, transforms, target or loss"));
  EXPECT_THAT(refused.err, HasSubstr("--from-start"));
  std::vector<std::string> from_start = transformed;
  from_start.emplace_back("--from-start");
  EXPECT_EQ(world.run(from_start).code, 0);
}

// The rule is in the digest of an epoch that does not begin as epochs usually do. Whoever resumes it need not repeat
// the rule.
TEST(GoingOn, AnEpochKeepsTheRuleThatItBeganBy) {
  const ReplayWorld world(3000);
  ASSERT_EQ(world.run({"--to", "1000"}).code, 0);
  ASSERT_EQ(world.run({"--new-epoch", "--to", "1500"}).code, 0);
  ASSERT_EQ(world.run({"--new-epoch", "--from-start", "--to", "2000"}).code, 0);
  ASSERT_EQ(world.run({"--resume"}).code, 0);
  const auto all = releases_of(world);
  EXPECT_EQ(first_of(all, 1).digest, first_of(all, 0).digest);
  EXPECT_NE(first_of(all, 2).digest, first_of(all, 0).digest);
  EXPECT_EQ(all.back().epoch, EpochId{2});
  EXPECT_EQ(all.back().digest, first_of(all, 2).digest);
  EXPECT_EQ(all.back().step, 1500U);
}

// A first epoch, or one with --from-start, may begin at a release of another stream, or at coefficients by name.
TEST(GoingOn, AFileOfReleasesOrCoefficientsByNameAreAStart) {
  const ReplayWorld world(3000);
  ASSERT_EQ(world.run({"--to", "1000"}).code, 0);
  const auto all = releases_of(world);
  world.write("release.json", world.releases());
  ASSERT_EQ(world.run(and_standing_still({"--to", "10", "--set", "descent.start=release.json"}), "other").code, 0);
  const auto of_other = publish::read_release(world.releases("other").substr(0, world.releases("other").find('\n')));
  expect_begins_at(of_other.value(), all[9].estimate);
  const std::vector<std::string> own{"--set", "descent.start=\"" + world.path("state/releases.jsonl") + "\""};
  EXPECT_EQ(world.run(own).code, 78) << "its last line changes with every release";
  std::string later = world.releases();
  later = later.substr(later.rfind('\n', later.size() - 2) + 1);
  world.write("later.json", later.replace(later.find(":1,"), 3, ":2,"));
  const CommandResult refused =
      world.run(and_standing_still({"--to", "10", "--set", "descent.start=later.json"}), "later");
  EXPECT_EQ(refused.code, 65);
  EXPECT_THAT(refused.err,
              HasSubstr("later.json: its last line is a release of format 2; this version reads format 1"));
  ASSERT_EQ(world
                .run(and_standing_still({"--to", "10", "--set", "descent.start.x=2.5", "--set",
                                         "descent.start.intercept=-1", "--set", "features.0.center=3"}),
                     "named")
                .code,
            0);
  const auto named = publish::read_release(world.releases("named").substr(0, world.releases("named").find('\n')));
  expect_begins_at(named.value(), {{"intercept", -1}, {"x", 2.5}});
}

// A later version wrote the last release, and the state is gone that would say that the file was changed.
TEST(GoingOn, ALaterFormatInTheFolderIsRefusedByItsPlace) {
  const ReplayWorld world(3000);
  ASSERT_EQ(world.run({"--to", "1000"}).code, 0);
  std::string releases = world.releases();
  const std::size_t last = releases.rfind('\n', releases.size() - 2) + 1;
  ASSERT_EQ(releases.compare(last, 12, "{\"format\":1,"), 0);
  world.write("state/releases.jsonl", releases.replace(last, 12, "{\"format\":2,"));
  std::filesystem::remove(world.path("state/state"));
  const CommandResult begun = world.run({"--new-epoch", "--to", "1500"});
  EXPECT_EQ(begun.code, 65);
  EXPECT_THAT(begun.err, HasSubstr("the last line of the lane's releases: a release of format 2; this version"));
}

TEST(GoingOn, WithoutAStateTheReleasesAreLeft) {
  const ReplayWorld world(3000);
  ASSERT_EQ(world.run({"--to", "1000"}).code, 0);
  std::filesystem::remove(world.path("state/state"));
  ASSERT_EQ(world.run(and_standing_still({"--new-epoch", "--to", "1010"})).code, 0);
  const auto all = releases_of(world);
  expect_begins_at(first_of(all, 1), all[9].estimate);
}

// Of 3,000 records, 500 are left out of each epoch's average. The mean of 500 iterates goes on as one of so many.
TEST(GoingOn, TheAverageKeepsItsWeight) {
  const ReplayWorld world(3000);
  ASSERT_EQ(world.run({"--to", "1000"}).code, 0);
  ASSERT_EQ(world.run({"--new-epoch", "--set", "release.every=100"}).code, 0);
  const auto all = releases_of(world);
  const ShownRelease& old = all[9];
  ASSERT_EQ(old.average_weight, 500);
  const ShownRelease begun = first_of(all, 1);
  ASSERT_EQ(begun.step, 100U);
  EXPECT_EQ(begun.average_weight, 500) << "this epoch's first iterates are left out";
  EXPECT_NEAR(begun.average[0].second, old.average[0].second, 1e-12);
  EXPECT_EQ(all.back().average_weight, 2000);
}

}  // namespace
}  // namespace nustream::tests
