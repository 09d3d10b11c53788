// Columns of texts, ages and weights: what settings make of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/mechanism.h"
#include "config_reading.h"

namespace nustream::config {
namespace {

using ::testing::HasSubstr;

TEST(Config, OneHotIsAFeatureForEachTextOfTheList) {
  const Config config =
      read({"features.0.one_hot=[\"b\", \"a c\"]", "features.0.center=0.25", "features.0.scale=0.5"});
  ASSERT_EQ(config.schema.features.size(), 2U);
  for (const auto& [at, text] : {std::pair(0U, "b"), std::pair(1U, "a c")}) {
    const record::Feature& feature = config.schema.features[at];
    EXPECT_EQ(feature.name, std::string("x=") + text);
    EXPECT_EQ(feature.first.column, "x");
    EXPECT_EQ(feature.first.transform, record::Transform::indicator);
    EXPECT_EQ(feature.first.equals, text);
    EXPECT_EQ(feature.center, 0.25);
    EXPECT_EQ(feature.scale, 0.5);
  }
  EXPECT_EQ(config.descent.dimension, 2 + (config.schema.intercept ? 1U : 0U));
  EXPECT_EQ(read({"features.0.one_hot=[\"b\"]", "features.0.name=kind"}).schema.features[0].name, "kind=b");
  EXPECT_THAT(refusal({"features.0.one_hot=[]"}), HasSubstr("the texts of the column"));
  EXPECT_THAT(refusal({"features.0.one_hot=[\"a\", \"a\"]"}), HasSubstr("each text once"));
  EXPECT_THAT(refusal({"features.0.one_hot=[\"a\"]", "features.0.transform=log"}),
              HasSubstr("nothing beside one_hot"));
  EXPECT_THAT(refusal({"target.one_hot=[\"a\"]"}), HasSubstr("unknown key"));
}

// Nothing would tell two features of one name apart.
TEST(Config, OneHotNamesAreThoseOfNoOtherFeature) {
  std::string text = tests::example_config();
  text.insert(text.find("[descent]"), "[[features]]\ncolumn = \"x\"\ntransform = \"indicator\"\nequals = \"b\"\n\n");
  EXPECT_THAT(refusal({"features.0.one_hot=[\"a\", \"b\"]"}, text), HasSubstr("'x=b' is taken"));
}

// The list of values decides what the entries of an iterate belong to, so it has to be in the digest.
TEST(Config, OneHotIsInTheDigest) {
  const auto digest = [](const std::vector<std::string>& overrides) {
    const Config config = read(overrides);
    return settings_digest(config, make_mechanism(config, privacy::Participation::once()));
  };
  EXPECT_NE(digest({"features.0.one_hot=[\"a\", \"b\"]"}), digest({"features.0.one_hot=[\"a\", \"c\"]"}));
  EXPECT_NE(digest({"features.0.one_hot=[\"a\", \"b\"]"}), digest({"features.0.one_hot=[\"b\", \"a\"]"}));
}

TEST(Config, MapsToIndicatorsNameTheirFeatures) {
  const auto names = [](const std::vector<std::string>& overrides) {
    std::vector<std::string> all;
    for (const record::Feature& feature : read(overrides).schema.features) all.push_back(feature.name);
    return all;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names({"features.0.one_hot=[\"a\"]", "features.0.other=true"}), (Names{"x=a", "x=other"}));
  EXPECT_EQ(names({"features.0.hash=2"}), (Names{"x#0", "x#1"}));
  EXPECT_EQ(names({"features.0.bins=[0, 18, 65.5, inf]"}), (Names{"x[0,18)", "x[18,65.5)", "x[65.5,inf)"}));
  EXPECT_EQ(names({"features.0.bins=[0, 18]", "features.0.other=true", "features.0.name=age"}),
            (Names{"age[-inf,0)", "age[0,18)", "age[18,inf)"}));
  EXPECT_THAT(refusal({"features.0.hash=1"}), HasSubstr("from 2 to 4096"));
  EXPECT_THAT(refusal({"features.0.bins=[1, 1]"}), HasSubstr("two or more numbers that rise"));
  EXPECT_THAT(refusal({"features.0.bins=[1]"}), HasSubstr("two or more numbers that rise"));
  EXPECT_THAT(refusal({"features.0.hash=4", "features.0.bins=[1, 2]"}), HasSubstr("one of one_hot, hash and bins"));
  EXPECT_THAT(refusal({"features.0.hash=4", "features.0.other=true"}), HasSubstr("nothing beside hash"));
  EXPECT_THAT(refusal({"features.0.other=true"}), HasSubstr("only with one_hot or bins"));
}

TEST(Config, WeightsHaveAPublicBound) {
  const Config config = read({"weight.column=n", "weight.max=10", "weight.transform=sqrt"});
  ASSERT_TRUE(config.schema.weight);
  EXPECT_EQ(config.schema.weight->term.column, "n");
  EXPECT_EQ(config.schema.weight->term.transform, record::Transform::sqrt);
  EXPECT_EQ(config.schema.weight->most, 10);
  EXPECT_THAT(refusal({"weight.column=n"}), HasSubstr("weight.max is missing"));
  EXPECT_THAT(refusal({"weight.column=n", "weight.max=0"}), HasSubstr("a finite number > 0"));
  EXPECT_THAT(refusal({"exposure.column=n", "exposure.max=1"}), HasSubstr("poisson"));
  const Config rates = read({"exposure.column=n", "exposure.max=1", "exposure.log=true", "model.loss=poisson"});
  EXPECT_TRUE(rates.schema.exposure->is_log);
}

// How much a record counts, and how its texts become numbers, decides what an iterate means.
TEST(Config, MapsAndWeightsAreInTheDigest) {
  const auto digest = [](const std::vector<std::string>& overrides) {
    const Config config = read(overrides);
    return settings_digest(config, make_mechanism(config, privacy::Participation::once()));
  };
  const std::vector<std::vector<std::string>> all{
      {},
      {"features.0.hash=2"},
      {"features.0.hash=3"},
      {"features.0.bins=[0, 1]"},
      {"features.0.bins=[0, 2]"},
      {"features.0.one_hot=[\"a\"]"},
      {"features.0.one_hot=[\"a\"]", "features.0.other=true"},
      {"weight.column=n", "weight.max=10"},
      {"weight.column=m", "weight.max=10"},
      {"weight.column=n", "weight.max=9"},
      {"model.loss=poisson"},
      {"model.loss=poisson", "exposure.column=n", "exposure.max=10"},
      {"model.loss=poisson", "exposure.column=n", "exposure.max=10", "exposure.log=true"},
  };
  std::set<std::string> digests;
  for (const std::vector<std::string>& overrides : all) digests.insert(digest(overrides));
  EXPECT_EQ(digests.size(), all.size());
}

}  // namespace
}  // namespace nustream::config
