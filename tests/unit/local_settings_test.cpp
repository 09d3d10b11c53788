// Settings of local privacy: what is read, what is refused, and what the digest depends on that users and server
// share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "error.h"
#include "local/settings.h"
#include "local_world.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Overrides = std::vector<std::string>;

class LocalSettings : public ::testing::Test {
 protected:
  const LocalWorld world{3};

  [[nodiscard]] local::Settings read(const Overrides& overrides) const {
    return local::read_settings(world.config(), overrides);
  }
  [[nodiscard]] std::string refusal(const Overrides& overrides) const {
    try {
      static_cast<void>(read(overrides));
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), Exit::configuration) << failure.what();
      return failure.what();
    }
    return "accepted";
  }
};

TEST_F(LocalSettings, AreRead) {
  const local::Settings settings = read({});
  EXPECT_EQ(settings.bounds.dimension, 2u);
  EXPECT_EQ(*settings.bounds.l2, 1.0);
  EXPECT_FALSE(settings.bounds.l1);
  EXPECT_EQ(settings.bounds.label_centre, 0.5);
  EXPECT_EQ(settings.budget.epsilon, Epsilon{8});
  EXPECT_EQ(settings.budget.norm, inference::LocalNorm::l2) << "where x_l2_max is set";
  EXPECT_EQ(settings.budget.calibration, inference::LocalCalibration::exact);
  EXPECT_EQ(settings.budget.split, 0.5);
  EXPECT_EQ(settings.solver.family, inference::GlmFamily::logistic);
  EXPECT_EQ(settings.solver.repair, inference::LocalRepair::ridge);
  EXPECT_EQ(settings.public_rows, world.path("public.csv"));
}

TEST_F(LocalSettings, ThePapersConstantsByName) {
  const local::Settings settings = read({"local.x_l1_max=1.5", "local.calibration=paper"});
  EXPECT_EQ(settings.budget.calibration, inference::LocalCalibration::paper);
  EXPECT_EQ(settings.budget.norm, inference::LocalNorm::paper);
  const double variance = 32 * std::pow(1.5, 4) * std::log(2.5 / 1e-5) / 64;
  EXPECT_NEAR(local::make_mechanism(settings).noise().second_moment.value(), std::sqrt(variance), 1e-9);
}

TEST_F(LocalSettings, PoissonAndLinearNeedTheirLabelsBounds) {
  EXPECT_THAT(refusal({"model.loss=poisson"}), HasSubstr("local.label_max is missing"));
  EXPECT_THAT(refusal({"model.loss=linear"}), HasSubstr("local.label_min is missing"));
  EXPECT_EQ(read({"model.loss=poisson", "local.label_max=9"}).bounds.label_upper, 9);
  const local::Settings linear = read(
      {"model.loss=linear", "local.label_min=-3", "local.label_max=5", "local.label_centre=1", "target.scale=2"});
  EXPECT_EQ(inference::label_reach(linear.bounds), 4);
}

struct Refused {
  const char* name;
  Overrides overrides;
  std::string part;
  friend void PrintTo(const Refused& refused, std::ostream* out) { *out << refused.name; }
};
class RefusedLocalSettings : public LocalSettings, public ::testing::WithParamInterface<Refused> {};

TEST_P(RefusedLocalSettings, NameTheKeyAndWhatIsAllowed) {
  EXPECT_THAT(refusal(GetParam().overrides), HasSubstr(GetParam().part));
}
INSTANTIATE_TEST_SUITE_P(
    All, RefusedLocalSettings,
    ::testing::Values(
        Refused{"Unknown", {"local.epsilom=2"}, "local.epsilom: unknown key (did you mean 'epsilon'?)"},
        Refused{"UnknownSection", {"locale.x=2"}, "locale: unknown key"},
        Refused{"NoEpsilon", {"local.epsilon=0"}, "local.epsilon = 0: allowed is a finite number > 0"},
        Refused{"InfiniteEpsilon", {"local.epsilon=inf"}, "local.epsilon = inf"},
        Refused{"HugeEpsilon", {"local.epsilon=1e15"}, "local.epsilon"},
        Refused{"Delta", {"local.delta=1"}, "0 < delta < 1"},
        Refused{"Radius", {"local.x_l2_max=0"}, "local.x_l2_max = 0"},
        Refused{"Calibration", {"local.calibration=papre"}, "did you mean 'paper'"},
        Refused{"PaperWithoutL1", {"local.calibration=paper"}, "together with x_l1_max"},
        Refused{"PaperWithL2",
                {"local.calibration=paper", "local.x_l1_max=1", "local.sensitivity=l2"},
                "local.sensitivity"},
        Refused{"PaperThatDoesNotHold",
                {"local.calibration=paper", "local.x_l1_max=1", "local.epsilon=300"},
                "local.calibration = 'paper': allowed is exact"},
        Refused{"PaperWithASplit", {"local.calibration=paper", "local.x_l1_max=1", "local.split=0.4"}, "local.split"},
        Refused{"L1WithoutIt", {"local.sensitivity=l1"}, "together with x_l1_max"},
        Refused{"Split", {"local.split=1"}, "0 < split < 1"},
        Refused{"Centre", {"local.label_centre=2"}, "local.label_centre = 2"},
        Refused{"LogisticLabels", {"local.label_max=2"}, "local.label_max = 2"},
        Refused{
            "NegativeCounts", {"model.loss=poisson", "local.label_max=2", "local.label_min=-1"}, "local.label_min"},
        Refused{"Repair", {"local.repair=rigde"}, "did you mean 'ridge'"},
        Refused{"Ridge", {"local.ridge=-1"}, "local.ridge = -1"},
        Refused{"Intercept", {"model.intercept=true"}, "has no constant"},
        Refused{"Loss", {"model.loss=huber"}, "model.loss"},
        Refused{"TargetScale", {"target.scale=2.0"}, "units of its own"},
        Refused{"Weight", {"weight.column=w", "weight.max=1"}, "[weight]: reports in local privacy all count alike"},
        Refused{"Commit", {"local.commit_reports=0"}, "local.commit_reports"}),
    [](const auto& refused) { return std::string(refused.param.name); });

TEST_F(LocalSettings, MissingOnesAreNamed) {
  const std::string text = "[stream]\nname = \"s\"\n[target]\ncolumn = \"y\"\n[[features]]\ncolumn = \"a\"\n";
  const auto missing = [&](const std::string& local) {
    try {
      static_cast<void>(local::read_settings(world.write("other.toml", text + "[local]\n" + local), {}));
    } catch (const Failure& failure) {
      return std::string(failure.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(missing(""), HasSubstr("local.x_l1_max is missing"));
  EXPECT_THAT(missing("x_l1_max = 1.0\n"), HasSubstr("local.epsilon is missing"));
  EXPECT_THAT(missing("x_l1_max = 1.0\nepsilon = 1\n"), HasSubstr("local.delta is missing"));
  EXPECT_EQ(missing("x_l1_max = 1.0\nepsilon = 1\ndelta = 1e-6\n"), "accepted");
}

// What changes the meaning of a report changes the digest; what each side decides for itself does not.
TEST_F(LocalSettings, TheDigestIsOfTheMechanismAlone) {
  const std::vector<Overrides> mechanisms{{},
                                          {"stream.name=other"},
                                          {"features.0.column=c"},
                                          {"features.0.scale=2.0"},
                                          {"features.1.center=0.1"},
                                          {"features.0.clamp=[-1, 1]"},
                                          {"features.0.transform=square"},
                                          {"target.column=z"},
                                          {"local.epsilon=7"},
                                          {"local.delta=1e-6"},
                                          {"local.x_l2_max=2"},
                                          {"local.x_l1_max=1"},
                                          {"local.label_centre=0"},
                                          {"local.label_min=0.25"},
                                          {"local.label_max=0.75"},
                                          {"local.split=0.4"},
                                          {"local.x_l1_max=1", "local.sensitivity=l1"},
                                          {"local.x_l1_max=1", "local.sensitivity=paper"},
                                          {"local.x_l1_max=1", "local.calibration=paper"}};
  std::set<std::string> digests;
  for (const Overrides& overrides : mechanisms) digests.insert(local::mechanism_digest(read(overrides)));
  EXPECT_EQ(digests.size(), mechanisms.size());
  const std::string digest = local::mechanism_digest(read({}));
  EXPECT_EQ(digest.size(), 64u);
  for (const Overrides& overrides : std::vector<Overrides>{{"local.record_key=id"},
                                                           {"local.directory=elsewhere"},
                                                           {"local.reports_directory=elsewhere"},
                                                           {"local.public_rows=other.csv"},
                                                           {"local.repair=none", "local.ridge=1"},
                                                           {"stream.format=jsonl"},
                                                           {"stream.input=other.csv"}}) {
    EXPECT_EQ(local::mechanism_digest(read(overrides)), digest) << overrides.front();
  }
  // The digest is the same on every machine and for ever, because users and servers are not built on the same day.
  EXPECT_EQ(digest, "2fc54f9a716c2164bfbe0e754784c3bddc5584aa52cc5eabc13103fc77ed34eb");
}

}  // namespace
}  // namespace nustream::tests
