// Releases: original units, JSON and back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "error.h"
#include "nustream/noise/rational.h"
#include "nustream/privacy/epsilon.h"
#include "publish/original_units.h"
#include "publish/release_json.h"

namespace nustream::publish {
namespace {

record::Schema schema(bool intercept) {
  record::Schema schema;
  schema.intercept = intercept;
  schema.features = {{.name = "a", .first = {}, .second = {}, .center = 0.5, .scale = 2},
                     {.name = "b", .first = {}, .second = {}, .center = -1, .scale = 0.25}};
  schema.target = record::Feature{.name = "y", .first = {}, .second = {}, .center = 10, .scale = 3};
  return schema;
}

lane::Settings with_loss(model::Loss::Kind kind) {
  return {.dimension = 0,
          .loss = {.kind = kind},
          .clip = ClipNorm{1},
          .schedule = descent::Schedule{descent::Constant{StepSize{0.1}}},
          .projection = {},
          .averaging = {},
          .start = {}};
}

// The prediction from coefficients in original units equals the one from working coordinates, at any x.
TEST(OriginalUnits, PredictTheSameAsTheWorkingCoordinates) {
  const record::Schema features = schema(true);
  const OriginalUnits units(features, with_loss(model::Loss::Kind::linear));
  const std::vector<double> theta{0.3, -1.2, 0.7};
  std::vector<double> original;
  units.convert(theta, original);
  ASSERT_EQ(units.names(), (std::vector<std::string>{"intercept", "a", "b"}));
  for (const auto& [a, b] : {std::pair{0.0, 0.0}, std::pair{3.0, -2.0}, std::pair{-7.5, 11.0}}) {
    const double working = theta[0] + theta[1] * (a - 0.5) / 2 + theta[2] * (b + 1) / 0.25;
    EXPECT_NEAR(10 + 3 * working, original[0] + original[1] * a + original[2] * b, 1e-12);
  }
}

TEST(OriginalUnits, ShowTheConstantThatCentringLeavesWithoutAnIntercept) {
  const OriginalUnits units(schema(false), with_loss(model::Loss::Kind::linear));
  std::vector<double> original;
  units.convert(std::vector<double>{-1.2, 0.7}, original);
  EXPECT_NEAR(original[0], 10 + 3 * (1.2 * 0.5 / 2 + 0.7 / 0.25), 1e-12);
}

TEST(OriginalUnits, OfTheMeanAreTheMeans) {
  record::Schema features = schema(false);
  features.target.reset();
  const OriginalUnits units(features, with_loss(model::Loss::Kind::mean));
  std::vector<double> original;
  units.convert(std::vector<double>{1.0, -2.0}, original);
  EXPECT_EQ(units.names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(original, (std::vector<double>{2.5, -1.5}));
}

std::vector<std::pair<std::string, double>> shown(const OriginalUnits& units, const std::vector<double>& theta) {
  std::vector<double> values;
  units.convert(theta, values);
  std::vector<std::pair<std::string, double>> named;
  for (std::size_t j = 0; j < values.size(); ++j) named.emplace_back(units.names()[j], values[j]);
  return named;
}

TEST(OriginalUnits, AreInvertedWhateverTheModelIs) {
  lane::Settings classes = with_loss(model::Loss::Kind::multinomial);
  classes.loss.classes = 3;
  lane::Settings two_stages = with_loss(model::Loss::Kind::linear);
  two_stages.first_stage = lane::FirstStage{.shape = {.instruments = 2, .controls = 1, .endogenous = 1},
                                            .clip = ClipNorm{1},
                                            .schedule = descent::Schedule{descent::Constant{StepSize{0.1}}}};
  record::Schema means = schema(false);
  means.target.reset();
  record::Schema labelled = schema(true);
  labelled.target.reset();
  const std::vector<std::pair<OriginalUnits, std::size_t>> models{
      {OriginalUnits(schema(true), with_loss(model::Loss::Kind::linear)), 3},
      {OriginalUnits(schema(false), with_loss(model::Loss::Kind::linear)), 2},
      {OriginalUnits(means, with_loss(model::Loss::Kind::mean)), 2},
      {OriginalUnits(labelled, classes), 3 * model::predictors(classes.loss)},
      {OriginalUnits(schema(true), two_stages), 4}};
  for (const auto& [units, entries] : models) {
    std::vector<double> theta;
    for (std::size_t j = 0; j < entries; ++j) theta.push_back(0.7 * static_cast<double>(j) - 1.1);
    std::vector<double> back(entries, 99);
    EXPECT_EQ(units.invert(shown(units, theta), back), "");
    for (std::size_t j = 0; j < entries; ++j) EXPECT_NEAR(back[j], theta[j], 1e-12) << units.names()[0];
  }
}

// A model predicts the same when settings that centre and scale otherwise take it over.
TEST(OriginalUnits, CarryAModelToOtherCentresAndScales) {
  const OriginalUnits before(schema(true), with_loss(model::Loss::Kind::linear));
  record::Schema other = schema(true);
  other.features[0].center = -3;
  other.features[1].scale = 7;
  other.target->center = 1;
  const OriginalUnits after(other, with_loss(model::Loss::Kind::linear));
  const auto values = shown(before, {0.3, -1.2, 0.7});
  std::vector<double> theta(3);
  ASSERT_EQ(after.invert(values, theta), "");
  const auto again = shown(after, theta);
  for (std::size_t j = 0; j < values.size(); ++j) EXPECT_NEAR(again[j].second, values[j].second, 1e-12);
}

TEST(OriginalUnits, SayWhyAnotherModelCannotTakeThemOver) {
  const OriginalUnits units(schema(true), with_loss(model::Loss::Kind::linear));
  std::vector<double> theta(3);
  EXPECT_EQ(units.invert(std::vector<std::pair<std::string, double>>{{"a", 1}}, theta), "it has no 'b'");
  EXPECT_EQ(units.invert(std::vector<std::pair<std::string, double>>{{"a", 1}, {"b", 1}, {"c", 1}}, theta),
            "it has coefficients that the settings do not");
  EXPECT_EQ(units.invert(std::vector<std::pair<std::string, double>>{{"a", 1}, {"b", std::nan("")}}, theta),
            "its values are not all finite numbers");
  std::vector<double> two(2);
  const OriginalUnits without(schema(false), with_loss(model::Loss::Kind::linear));
  EXPECT_THAT(without.invert(shown(units, {5, 1, 1}), two), ::testing::HasSubstr("a model without an intercept"));
}

// The target is then at its centre where the features are at theirs.
TEST(OriginalUnits, TakeValuesThatAreNotKnownForZeroInWorkingCoordinates) {
  const OriginalUnits units(schema(true), with_loss(model::Loss::Kind::linear));
  std::vector<double> theta(3);
  const std::vector<std::string> unknown{"intercept", "b"};
  const double nan = std::nan("");
  const std::vector<std::pair<std::string, double>> known{{"intercept", nan}, {"a", 1.5}, {"b", nan}};
  EXPECT_EQ(units.invert(known, unknown, theta), "");
  EXPECT_EQ(theta, (std::vector<double>{0, 1, 0}));
}

ReleaseEncoder encoder(bool is_private) {
  const noise::Correlation correlation{noise::Rational::nu_ftrl(Damping{0.01})};
  return {{"st\"ream", LaneId{3}, EpochId{2}, Delta{1e-6}, "d1gest", {is_private}},
          OriginalUnits(schema(true), with_loss(model::Loss::Kind::linear)),
          privacy::Spend{correlation, privacy::Participation::once(), NoiseMultiplier{2.0}}};
}

TEST(ReleaseJson, ReadsBackWhatWasWritten) {
  ReleaseEncoder encode = encoder(true);
  const std::vector<double> theta{0.1, 0.2, 0.3};
  std::string line;
  encode.append({StepCount{1000}, Position{1007}, theta, {}}, "cadence", line);
  ASSERT_EQ(line.back(), '\n');
  const auto shown = read_release(line);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->step, 1000u);
  EXPECT_EQ(shown->position, 1007u);
  EXPECT_EQ(shown->stream, "st\"ream");
  EXPECT_EQ(shown->lane, LaneId{3});
  EXPECT_EQ(shown->epoch, EpochId{2});
  EXPECT_TRUE(shown->promise.is_private);
  EXPECT_TRUE(shown->average.empty());
  EXPECT_EQ(shown->conversion, "gaussian");
  std::vector<double> original;
  OriginalUnits(schema(true), with_loss(model::Loss::Kind::linear)).convert(theta, original);
  ASSERT_EQ(shown->estimate.size(), 3u);
  for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(shown->estimate[j].second, original[j]);
  EXPECT_GT(shown->rho, 0);
  EXPECT_LE(shown->rho, shown->rho_limit);
}

// docs/formats/releases.md says where these fields stand and how they are written.
TEST(ReleaseJson, SaysTheWeightOfItsAverageAndWhatItsCoefficientsAreOf) {
  const noise::Correlation correlation{noise::Rational::nu_ftrl(Damping{0.01})};
  ReleaseEncoder encode{{"stream", LaneId{3}, EpochId{2}, Delta{1e-6}, "d1gest", {true}, "00112233aabbccdd"},
                        OriginalUnits(schema(true), with_loss(model::Loss::Kind::linear)),
                        privacy::Spend{correlation, privacy::Participation::once(), NoiseMultiplier{2.0}}};
  const std::vector<double> theta(3);
  std::string line;
  encode.append({StepCount{900}, Position{900}, theta, theta, 1400}, "end", line);
  EXPECT_THAT(line, ::testing::HasSubstr("},\"average_weight\":1400,\"rho\":"));
  EXPECT_THAT(line, ::testing::HasSubstr(",\"digest\":\"d1gest\",\"model\":\"00112233aabbccdd\",\"adjacency\":"));
  EXPECT_EQ(read_release(line)->average_weight, 1400);
  EXPECT_EQ(read_release(line)->model, "00112233aabbccdd");
  line.clear();
  encode.append({StepCount{900}, Position{900}, theta, {}}, "end", line);
  EXPECT_THAT(line, ::testing::Not(::testing::HasSubstr("average_weight")));
}

TEST(ReleaseJson, ShowsTheSpendOfItsOwnStepAndTheLimitBesideIt) {
  ReleaseEncoder encode = encoder(true);
  const privacy::Spend spend{noise::Correlation{noise::Rational::nu_ftrl(Damping{0.01})},
                             privacy::Participation::once(), NoiseMultiplier{2.0}};
  for (const std::uint64_t steps : {1U, 2U, 30U}) {
    std::string line;
    encode.append({StepCount{steps}, Position{steps}, std::vector<double>(3), {}}, "cadence", line);
    const auto shown = read_release(line);
    ASSERT_TRUE(shown);
    EXPECT_EQ(shown->rho, spend.after(StepCount{steps}).value());
    EXPECT_EQ(shown->rho_limit, spend.limit().value());
    EXPECT_EQ(shown->epsilon, privacy::epsilon(spend.after(StepCount{steps}), Delta{1e-6}).value());
  }
}

TEST(ReleaseJson, MarksWhatIsNotPrivateAndWhatDiverged) {
  ReleaseEncoder encode = encoder(false);
  std::string line;
  encode.append({StepCount{1}, Position{1}, std::vector<double>{std::nan(""), 1.0, 1.0}, {}}, "end", line);
  EXPECT_THAT(line, ::testing::HasSubstr("\"private\":false"));
  EXPECT_THAT(line, ::testing::HasSubstr("\"intercept\":null"));
}

TEST(ReleaseJson, SaysWhatItPromises) {
  for (const Promise& promise : {Promise{true, false, "zero-out"}, Promise{true, true, "replace-one"},
                                 Promise{false, false, "replace-one"}, Promise{true, false, ""}}) {
    const noise::Correlation correlation{noise::Rational::nu_ftrl(Damping{0.01})};
    ReleaseEncoder encode{{"stream", LaneId{3}, EpochId{2}, Delta{1e-6}, "d1gest", promise},
                          OriginalUnits(schema(true), with_loss(model::Loss::Kind::linear)),
                          privacy::Spend{correlation, privacy::Participation::once(), NoiseMultiplier{2.0}}};
    std::string line;
    encode.append({StepCount{1}, Position{1}, std::vector<double>{1.0, 1.0, 1.0}, {}}, "end", line);
    EXPECT_EQ(line.find("\"protects\":\"target\"") != std::string::npos, promise.target_only);
    EXPECT_EQ(line.find("\"adjacency\"") != std::string::npos, !promise.adjacency.empty());
    ASSERT_TRUE(read_release(line));
    EXPECT_EQ(read_release(line)->promise, promise);
  }
}

TEST(ReleaseJson, RefusesALineThatIsNoRelease) {
  EXPECT_FALSE(read_release("{\"step\":1}"));
  EXPECT_FALSE(read_release("not json"));
}

/// What read_release() says of `line`; nothing where it reads it.
std::string refusal_of(const std::string& line) try {
  return read_release(line) ? "" : "no release";
} catch (const Failure& failure) {
  EXPECT_EQ(failure.code(), Exit::data);
  return failure.what();
}

// docs/formats/releases.md: a later version may give a field another meaning, so that a reader must not guess.
TEST(ReleaseJson, RefusesAnotherFormatAndTakesALineWithoutOneForTheFirst) {
  ReleaseEncoder encode = encoder(true);
  std::string line;
  encode.append({StepCount{1}, Position{1}, std::vector<double>(3), {}}, "end", line);
  const std::string first = "{\"format\":1,";
  ASSERT_TRUE(line.starts_with(first));
  const std::string rest = line.substr(first.size());
  EXPECT_EQ(refusal_of(line), "");
  EXPECT_EQ(refusal_of('{' + rest), "");
  EXPECT_EQ(refusal_of("{\"format\":2," + rest),
            "a release of format 2; this version reads format 1: use a newer nustream");
  EXPECT_EQ(refusal_of("{\"format\":\"2\"," + rest),
            "a release of an unknown format; this version reads format 1: use a newer nustream");
  // A later version may lack a field that this one needs.
  EXPECT_THAT(refusal_of("{\"format\":2}"), ::testing::HasSubstr("a release of format 2"));
}

}  // namespace
}  // namespace nustream::publish
