// Somebody who resumes under other settings is told which of them differ.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include <fmt/format.h>

#include "config/settings_difference.h"
#include "config_reading.h"
#include "expect_failure.h"
#include "located.h"

namespace nustream::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Overrides = std::vector<std::string>;

std::string text_of(const Overrides& overrides, EpochStart start = EpochStart::last_release, bool is_private = true) {
  const Config config = read(overrides);
  return settings_text(config, make_mechanism(config, privacy::Participation::once()), is_private, start);
}

std::vector<std::string> between(const Overrides& there, const Overrides& here) {
  return differing_settings(text_of(there), text_of(here));
}

TEST(SettingsDifference, NamesEachSettingAsAFileHasIt) {
  EXPECT_THAT(between({}, {}), IsEmpty());
  EXPECT_THAT(between({}, {"descent.step_size=0.02"}), ElementsAre("descent.step_size (0.01 there, 0.02 here)"));
  EXPECT_THAT(between({}, {"features.0.center=2"}), ElementsAre("feature 'x'.center (0.5 there, 2 here)"));
  EXPECT_THAT(between({}, {"target.scale=3"}), ElementsAre("target 'y'.scale (1 there, 3 here)"));
  EXPECT_THAT(between({}, {"model.loss=huber", "model.threshold=1.5"}),
              ElementsAre("model.loss (linear there, huber here)", "model.threshold (1 there, 1.5 here)"));
  EXPECT_THAT(between({}, {"descent.average=tail", "descent.average_from=9"}),
              ElementsAre("descent.average (last there, tail here)", "descent.average_from (0 there, 9 here)"));
  EXPECT_THAT(between({}, {"stream.format=jsonl"}), ElementsAre("stream.format (csv there, json here)"));
}

// σ and Δ are computed: a difference in them is told only where nothing differs that they are computed from.
TEST(SettingsDifference, TellsCausesAndNotWhatFollows) {
  EXPECT_THAT(between({}, {"privacy.rho=1"}), ElementsAre("privacy.rho"));
  EXPECT_THAT(between({}, {"descent.clip_norm=2"}), ElementsAre("descent.clip_norm (1 there, 2 here)"));
  EXPECT_THAT(between({}, {"privacy.adjacency=replace-one"}),
              ElementsAre("privacy.adjacency (zero-out there, replace-one here)"));
  const auto noise = between({}, {"noise.correlation=nu", "noise.horizon=100"});
  EXPECT_THAT(noise, ::testing::Contains(::testing::HasSubstr("noise.correlation (rational there, nu here)")));
  EXPECT_THAT(noise, ::testing::Not(::testing::Contains("privacy.rho")));
}

// The poles and weights of a rational correlation follow from nu; where nu is not set, it is itself computed.
TEST(SettingsDifference, TellsNuAndNotItsPoles) {
  EXPECT_THAT(between({}, {"noise.nu=0.2"}), ElementsAre("noise.nu (0.01 there, 0.2 here)"));
  EXPECT_THAT(between({}, {"descent.step_size=0.25"}), ElementsAre(::testing::StartsWith("descent.step_size (")));
}

TEST(SettingsDifference, NamesTheSettingsOfRunningSums) {
  Overrides sums{"model.estimator=moments", "moments.row_norm=4", "moments.residual_bound=6"};
  const Overrides before = sums;
  sums[1] = "moments.row_norm=5";
  sums[2] = "moments.residual_bound=7";
  sums.emplace_back("moments.residual_variance=2");
  EXPECT_THAT(between(before, sums),
              ElementsAre("moments.row_norm (4 there, 5 here)", "moments.residual_bound (6 there, 7 here)",
                          "moments.residual_variance (0 there, 2 here)"));
}

// Both are kept as matrices, of which the text has a hash.
TEST(SettingsDifference, AnotherMatrixIsAnotherCorrelation) {
  const std::vector<std::string> circulant{"noise.correlation=circulant", "noise.horizon=256"};
  const std::vector<std::string> tree{"noise.correlation=full-honaker", "noise.horizon=256", "noise.height=8"};
  EXPECT_THAT(between(circulant, tree), ElementsAre("noise.correlation (another matrix there)"));
  EXPECT_THAT(differing_settings(text_of(circulant), text_of(tree), {.correlation = "full-honaker"}),
              ElementsAre("noise.correlation (another matrix there, full-honaker here)"));
}

TEST(SettingsDifference, AFeatureThatIsNewIsOneDifference) {
  EXPECT_THAT(between({}, {"features.0.column=z"}), ElementsAre("feature 'z' (new)", "feature 'x' (gone)"));
}

// A list of buckets is one key of the file: what else differs must not be buried under its features.
TEST(SettingsDifference, FeaturesOfOneKeyAreToldTogether) {
  const auto buckets = [](int count) { return fmt::format("features=[{{column=\"x\",hash={}}}]", count); };
  EXPECT_THAT(between({buckets(8)}, {buckets(16), "descent.step_size=0.02"}),
              ElementsAre("feature 'x'.hash (8 there, 16 here)", "descent.step_size (0.01 there, 0.02 here)"));
  EXPECT_THAT(between({}, {buckets(8)}), ElementsAre("feature 'x'.hash (new)", "feature 'x' (gone)"));
  EXPECT_THAT(between({buckets(8)}, {"features=[{column=\"x\",hash=8,name=\"z\"}]"}),
              ElementsAre("feature 'z'.hash (new)", "feature 'x'.hash (gone)"));
  const auto edges = [](const char* more) { return fmt::format("features=[{{column=\"x\",bins={}}}]", more); };
  EXPECT_THAT(between({edges("[0, 0.3, 1]")}, {edges("[0, 0.5, 1]")}),
              ElementsAre("feature 'x'.bins ([0, 0.3, 1] there, [0, 0.5, 1] here)"));
  EXPECT_THAT(between({edges("[0, 1]")}, {edges("[0, 1],other=true")}),
              ElementsAre("feature 'x'.other (false there, true here)"));
  const auto texts = [](const char* more) { return fmt::format("features=[{{column=\"x\",one_hot={}}}]", more); };
  EXPECT_THAT(between({texts("[\"a\"]")}, {texts("[\"a\", \"b\"]")}),
              ElementsAre("feature 'x'.one_hot ([\"a\"] there, [\"a\", \"b\"] here)"));
  EXPECT_THAT(between({texts("[\"a\"]")}, {texts("[\"a\"],other=true,scale=2")}),
              ElementsAre("feature 'x'.other (false there, true here)", "feature 'x'.scale (1 there, 2 here)"));
}

TEST(SettingsDifference, WhatIsTheSameOfManyFeaturesIsToldOnce) {
  const auto scaled = [](int scale) {
    std::string features;
    for (const char name : {'a', 'b', 'c', 'd'}) {
      features += fmt::format("{}{{column=\"{}\",scale={}}}", features.empty() ? "" : ",", name, scale);
    }
    return "features=[" + features + "]";
  };
  EXPECT_THAT(between({scaled(1)}, {scaled(2)}),
              ElementsAre("feature 'a'.scale (1 there, 2 here) and likewise 3 other features"));
}

// An indicator that stands alone was most likely written as one, and the column itself may stand beside its buckets.
TEST(SettingsDifference, FeaturesOfOtherKeysAreToldByThemselves) {
  const auto indicator = [](const char* of) {
    return fmt::format("features=[{{column=\"x\",transform=\"indicator\",equals=\"{}\"}}]", of);
  };
  EXPECT_THAT(between({indicator("a")}, {indicator("b")}),
              ElementsAre("feature 'x=b' (new)", "feature 'x=a' (gone)"));
  const auto both = [](int buckets) {
    return fmt::format("features=[{{column=\"x\"}},{{column=\"x\",hash={}}}]", buckets);
  };
  EXPECT_THAT(between({both(2)}, {both(3)}), ElementsAre("feature 'x'.hash (2 there, 3 here)"));
}

// Of the text's own words none is a key of a file.
TEST(SettingsDifference, UnitAndLabelsAreToldByTheirKeys) {
  const Overrides users{"privacy.unit=user", "privacy.user=who", "users.participations=3"};
  EXPECT_THAT(between({}, users), ElementsAre("privacy.unit (record there, user here)", "privacy.user (new)",
                                              "users.participations (new)"));
  EXPECT_THAT(between(users, {}), ElementsAre("privacy.unit (user there, record here)", "privacy.user (gone)",
                                              "users.participations (gone)"));
  Overrides more = users;
  more.insert(more.end(), {"users.mass=2", "privacy.user_null=[\"none\"]"});
  EXPECT_THAT(between(users, more), ElementsAre("privacy.user_null (new)", "users.mass (new)"));
  const Overrides logistic{"model.loss=logistic", "target.column=z"};
  const auto labels = [&](const char* texts) {
    Overrides with = logistic;
    with.push_back(fmt::format("model.labels={}", texts));
    return with;
  };
  EXPECT_THAT(between(logistic, labels("[\"no\", \"yes\"]")), ElementsAre("model.labels (new)"));
  EXPECT_THAT(between(labels("[\"no\", \"yes\"]"), labels("[\"yes\", \"no\"]")),
              ElementsAre("model.labels ([\"no\", \"yes\"] there, [\"yes\", \"no\"] here)"));
}

TEST(SettingsDifference, TheEndOfTheNoiseIsToldByItsKey) {
  EXPECT_THAT(differing_settings(text_of({"descent.horizon=100"}), text_of({"descent.horizon=200"}),
                                 {.horizon = "descent.horizon"}),
              ElementsAre("descent.horizon (100 there, 200 here)"));
  const Overrides sums{"model.estimator=moments", "moments.row_norm=4", "moments.residual_bound=6"};
  Overrides ends = sums;
  ends.emplace_back("moments.releases=5");
  EXPECT_THAT(between(sums, ends), ElementsAre("moments.releases (none there, 5 here)"));
  Overrides forgets = sums;
  forgets.emplace_back("moments.memory=100000");
  EXPECT_THAT(between(sums, forgets), ElementsAre("moments.memory (0 there, 100000 here)"));
}

/// The text of a table that is read in so many steps, each of which takes all of its records.
std::string table_of(const std::string& steps) {
  const Config config = read({"noise.correlation=independent", "descent.horizon=" + steps, "descent.minibatch=400"});
  const Mechanism mechanism = make_mechanism(config, privacy::Participation{std::stoul(steps), 1});
  return settings_text(config, mechanism, true, EpochStart::last_release);
}

// A table has steps, and a stream has none: of the noise's end and of passes nobody has typed anything.
TEST(SettingsDifference, ATableIsToldByItsSteps) {
  const std::string stream = text_of({"noise.correlation=independent"});
  EXPECT_THAT(differing_settings(table_of("10"), stream), ElementsAre("estimate.steps (10 there, none here)"));
  EXPECT_THAT(differing_settings(stream, table_of("10"), {.is_table = true}),
              ElementsAre("estimate.steps (none there, 10 here)"));
  EXPECT_THAT(differing_settings(table_of("10"), table_of("20"), {.is_table = true}),
              ElementsAre("estimate.steps (10 there, 20 here)"));
}

// The lines of a descent are new behind running sums, and follow from the one key that somebody changed.
TEST(SettingsDifference, AnotherEstimatorIsOneDifference) {
  const Overrides sums{"model.estimator=moments", "moments.row_norm=4", "moments.residual_bound=6"};
  const std::vector<std::string> to_descent = between(sums, {});
  ASSERT_FALSE(to_descent.empty());
  EXPECT_EQ(to_descent.front(), "model.estimator (moments there, descent here)");
  EXPECT_EQ(between({}, sums).front(), "model.estimator (descent there, moments here)");
  for (const std::string& each : to_descent) EXPECT_THAT(each, Not(HasSubstr("(new)"))) << each;
  for (const std::string& each : to_descent) EXPECT_THAT(each, Not(HasSubstr("noise."))) << each;
}

// A table has no noise.horizon and no --passes: both follow from its number of steps.
TEST(SettingsDifference, AHorizonOfATableIsItsSteps) {
  const Overrides twenty{"noise.correlation=nu", "noise.horizon=20"};
  const Overrides thirty{"noise.correlation=nu", "noise.horizon=30"};
  EXPECT_THAT(between(twenty, thirty), ElementsAre("noise.horizon (20 there, 30 here)"));
  EXPECT_THAT(differing_settings(text_of(twenty), text_of(thirty), {.is_table = true}),
              ElementsAre("estimate.steps (20 there, 30 here)"));
}

// Indicators that were written one by one may differ in their scales, which no key of all of them could say.
TEST(SettingsDifference, ASettingOfOneIndicatorAmongSeveralIsNamed) {
  const auto cities = [](const char* scale) {
    const std::string each = "{{column=\"x\",transform=\"indicator\",equals=";
    return Overrides{fmt::format(fmt::runtime("features=[" + each + "\"a\"}}," + each + "\"b\",scale={}}}]"), scale)};
  };
  EXPECT_THAT(between(cities("1"), cities("3")), ElementsAre("feature 'x=b'.scale (1 there, 3 here)"));
  Overrides clipped = cities("3");
  clipped.emplace_back("descent.clip_norm=7");
  EXPECT_THAT(between(cities("1"), clipped),
              ElementsAre("feature 'x=b'.scale (1 there, 3 here)", HasSubstr("descent.clip_norm (")));
}

// The order decides which number of an estimate belongs to which text.
TEST(SettingsDifference, AnotherOrderOfTheSameTextsIsNamed) {
  EXPECT_THAT(between({"features.0.one_hot=[\"a\", \"b\", \"c\"]"}, {"features.0.one_hot=[\"a\", \"c\", \"b\"]"}),
              ElementsAre("feature 'x'.one_hot ([\"a\", \"b\", \"c\"] there, [\"a\", \"c\", \"b\"] here)"));
  const Overrides xz{"features=[{column=\"x\"},{column=\"z\"}]"};
  EXPECT_THAT(between(xz, {"features=[{column=\"z\"},{column=\"x\"}]"}),
              ElementsAre("the order of features (feature 'x' there, feature 'z' here)"));
}

TEST(SettingsDifference, ARuleOfTheEpochIsOne) {
  EXPECT_THAT(differing_settings(text_of({}), text_of({}, EpochStart::settings)), IsEmpty()) << "nobody typed it";
  EXPECT_THAT(differing_settings(text_of({}), text_of({}, EpochStart::last_release, false)),
              ElementsAre("--insecure-seed (new)"));
}

TEST(SettingsDifference, EachIsNamedByItsOwnKey) {
  const BesideTexts beside{.rho_there = Rho{0.5}, .rho_here = Rho{0.6}};
  EXPECT_THAT(differing_settings(text_of({}), text_of({"noise.nu=0.2", "privacy.rho=0.6"}), beside),
              ElementsAre("noise.nu (0.01 there, 0.2 here)", "privacy.rho (0.5 there, 0.6 here)"));
  EXPECT_THAT(between({}, {"weight.column=w", "weight.max=3"}),
              ElementsAre("weight.column (new)", "weight.max (new)"));
  EXPECT_THAT(between({"weight.column=w", "weight.max=2"}, {"weight.column=w", "weight.max=3"}),
              ElementsAre("weight.max (2 there, 3 here)"));
  EXPECT_THAT(between({}, {"features.0.clamp=[0,30]"}), ElementsAre("feature 'x'.clamp (none there, [0, 30] here)"));
  EXPECT_THAT(between({}, {"model.intercept=false"}), ElementsAre("model.intercept (true there, false here)"));
  const BesideTexts unset{.nu_is_set = false};
  EXPECT_THAT(differing_settings(text_of({}), text_of({"noise.nu=0.2"}), unset),
              ElementsAre("noise.nu (0.01 there, 0.2 here; its default follows plan.records and "
                          "plan.second_moment_eigenvalues)"));
}

// Where the unit is the user, k is a setting of [users] and not a number of passes. After an epoch whose unit was the
// record, no epoch whose unit is the user may begin, nor the other way round.
TEST(SettingsDifference, LimitsOfUsersAreNoPasses) {
  const Overrides three{"privacy.unit=user", "privacy.user=who", "users.participations=3"};
  const Overrides four{"privacy.unit=user", "privacy.user=who", "users.participations=4"};
  EXPECT_THAT(between(three, four), ElementsAre("users.participations (3 there, 4 here)"));
  const Overrides append{"privacy.unit=user", "privacy.user=who", "users.participations=3", "users.period=P7D"};
  Overrides trusted = append;
  trusted.insert(trusted.end(), {"users.times=trusted", "stream.time=when"});
  EXPECT_THAT(between(append, trusted), ::testing::Contains("users.times (append there, trusted here)"));
  EXPECT_THAT(between({}, three), ::testing::Not(::testing::Contains(::testing::StartsWith("--passes"))));
  const auto refused = [](const Overrides& there, const Overrides& here, const std::string& told) {
    const Config config = read(here);
    const EpochDigests digests(config, make_mechanism(config, privacy::Participation::once()), true);
    tests::expect_failure(
        Exit::data, [&] { require_same_settings(text_of(there), std::string(64, 'e'), digests); }, told);
  };
  refused({}, three, "begin in another state.directory or with other topics");
  refused(three, {}, "begin in another state.directory or with other topics");
  refused(three, four, "begin a new epoch with: --new-epoch");
}

// The digest decides, and the text explains. A state without a text, as earlier versions left it, is accepted by its
// digest; another digest is refused with what differs in the text.
TEST(SettingsDifference, RefusesOtherDigestsWithWhatDiffers) {
  const Config config = read({});
  const EpochDigests digests(config, make_mechanism(config, privacy::Participation::once()), true);
  EXPECT_NO_THROW(require_same_settings({}, digests.of(EpochStart::settings), digests));
  const std::string other(64, 'e');
  tests::expect_failure(
      Exit::data, [&] { require_same_settings(text_of({"descent.step_size=0.5"}), other, digests); },
      "the state is of other settings (another settings digest): descent.step_size (0.5 there, 0.01 here); resume "
      "with "
      "the settings that made it, or begin a new epoch with: --new-epoch");
  tests::expect_failure(
      Exit::data, [&] { require_same_settings({}, other, digests); },
      "the state is of another settings digest: " + other + ", not " + digests.of(EpochStart::last_release));
}

// A guess of [plan] is in no text. Where "auto" has chosen a setting by it, the guesses are named beside the setting.
TEST(SettingsDifference, NamesWhatAutoHasChosenBy) {
  const Config config = read({});
  const EpochDigests digests(config, make_mechanism(config, privacy::Participation::once()), true);
  BesideTexts beside;
  beside.chosen = {"descent.clip_norm", "noise.nu"};
  beside.chosen_by = "plan.residual = 2";
  beside.new_epoch = "nustream replay a.toml --new-epoch";
  const auto refused = [&](const Overrides& there, const std::string& told) {
    tests::expect_failure(
        Exit::data, [&] { require_same_settings(text_of(there), std::string(64, 'e'), digests, beside); }, told);
  };
  const std::string next =
      "; resume with the settings that made it, or begin a new epoch with: nustream replay a.toml --new-epoch";
  refused(
      {"descent.clip_norm=3"},
      "descent.clip_norm (3 there, 1 here); model.estimator = \"auto\" has chosen descent.clip_norm by plan.residual "
      "= 2: one of these, or of the other settings, was another there" +
          next);
  refused({"features.0.center=3"}, "feature 'x'.center (3 there, 0.5 here)" + next);
}

// The text has one key for where a stage and where a piece of a schedule begins.
TEST(SettingsDifference, NamesStagesAndPieces) {
  const auto pieces = [](int from) {
    return Overrides{"descent.schedule=piecewise",
                     fmt::format("descent.pieces=[{{from=0,step_size=0.1}},{{from={},step_size=0.01}}]", from)};
  };
  EXPECT_THAT(between(pieces(100), pieces(200)), ElementsAre("descent.pieces"));
  const auto stages = [](int from) {
    const Config config =
        read({fmt::format("moments.stages=[{{from={},residual_bound=1}}]", from)}, tests::moments_config());
    return settings_text(config, make_mechanism(config, privacy::Participation::once()), true,
                         EpochStart::last_release);
  };
  EXPECT_THAT(differing_settings(stages(1000), stages(2000)), ::testing::Contains("moments.stages"));
}

// The failure says of which folder it is, also where the folder's name is within a word of the line.
TEST(Located, NamesAPlaceOnce) {
  const auto told = [](const std::string& place, const std::string& line) -> std::string {
    try {
      located(place, [&]() -> void { throw Failure(Exit::data, line); });
    } catch (const Failure& failure) {
      return failure.what();
    }
    return {};
  };
  EXPECT_EQ(told("re", "there are other settings"), "re: there are other settings");
  EXPECT_EQ(told("run", "the state of runs/orders"), "run: the state of runs/orders");
  EXPECT_EQ(told("run", "run/state: is damaged"), "run/state: is damaged");
  EXPECT_EQ(told("a.toml", "a.toml:3:1: no such key"), "a.toml:3:1: no such key");
}

TEST(SettingsDifference, AnyBytesAreRead) {
  const std::string here = text_of({});
  std::mt19937_64 random(17);
  for (int trial = 0; trial < 2000; ++trial) {
    std::string there = here;
    for (int change = 0; change < 4; ++change) there[random() % there.size()] = static_cast<char>(random());
    there.resize(random() % (there.size() + 1));
    static_cast<void>(differing_settings(there, here));
  }
  EXPECT_FALSE(differing_settings("", here).empty());
  EXPECT_FALSE(differing_settings("a=99999999999999999999:x", here).empty());
}

}  // namespace
}  // namespace nustream::config
