// The ν that is used where the settings do not name one, and what the settings tell of the size of a row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "config/estimator_choice.h"
#include "config_reading.h"
#include "nustream/inference/average_plan.h"

namespace nustream::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string without_nu(const std::string& plan = "") {
  std::string text = tests::example_config();
  const std::string noise = "[noise]\nnu = 0.01\n";
  text.replace(text.find(noise), noise.size(), "");
  return text + plan;
}

double nu_of(const std::vector<std::string>& overrides, const std::string& text) {
  return read(overrides, text).noise.approximated_nu->value();
}

TEST(DefaultNu, IsTheBestForWhatIsQuoted) {
  // For the last iterate ν is η (CDP+ Theorem 2.1); for an average it is the best ν for the average's length.
  EXPECT_EQ(nu_of({}, without_nu()), 0.01);
  const privacy::LocalProblem problem{{1.0}, StepSize{0.01}, privacy::Curvature::gaussian_features};
  const auto once = privacy::Participation::once();
  const double of_tail = nu_of({"descent.average=tail", "descent.average_from=50000"}, without_nu());
  EXPECT_NEAR(of_tail, inference::suggested_nu_of_average(problem, {50'000, 100'000}, once).value(), 0.06 * of_tail);
  EXPECT_LT(of_tail, 1e-4);
  const std::vector<std::string> tail{"descent.average=tail"};
  const double of_records = nu_of(tail, without_nu("[plan]\nrecords = 30000\n"));
  EXPECT_NEAR(of_records, inference::suggested_nu_of_average(problem, {0, 30'000}, once).value(), 0.06 * of_records);
  EXPECT_LT(nu_of(tail, without_nu()), 1e-7);  // the ν that suits an average of every length
  const double exponential = nu_of({"descent.average=exponential", "descent.average_decay=0.9999"}, without_nu());
  EXPECT_GT(exponential, 1e-5);
  EXPECT_LT(exponential, 1e-3);
}

TEST(DefaultNu, FollowsEigenvaluesAndHasTwoDigits) {
  const double nu = nu_of({"plan.second_moment_eigenvalues=[0.3, 0.3]"}, without_nu());
  EXPECT_EQ(nu, 0.003);
}

TEST(DefaultNu, IsNotThereWhereTheStepsHaveNoTheory) {
  EXPECT_THAT(refusal({"descent.step_size=1.5"}, without_nu()),
              AllOf(HasSubstr("noise.nu is missing"), HasSubstr("no default follows"), HasSubstr("step size")));
}

// What is set stays, whatever would be guessed: sigma and digests of such settings are as they were.
TEST(DefaultNu, NeverTakesThePlaceOfWhatIsSet) {
  EXPECT_EQ(nu_of({"descent.average=tail", "plan.records=30000"}, tests::example_config()), 0.01);
  const Config config = read({"noise.q=[0.9]", "noise.b=[0.1]"}, without_nu());
  EXPECT_FALSE(config.noise.approximated_nu);
}

TEST(PublicScale, KnowsWhatClampsAndTransformsSay) {
  const Config config = read({"features.0.clamp=[0, 6]", "features.0.center=3", "features.0.scale=2"});
  const PublicScale scale = public_scale(config.schema);
  EXPECT_TRUE(scale.unknown.empty());
  ASSERT_EQ(scale.eigenvalues.size(), 2U);  // one of a feature that is uniform on ±1.5, and one of the intercept
  EXPECT_NEAR(scale.eigenvalues[0], 0.75, 1e-12);
  EXPECT_NEAR(scale.eigenvalues[1], 1, 1e-12);
  // A feature that is not centred gives [[1, 3], [3, 9 + 3]], with trace 13 and determinant 3.
  const PublicScale off =
      public_scale(read({"features.0.clamp=[0, 6]", "features.0.center=0", "features.0.scale=1"}).schema);
  EXPECT_NEAR(off.eigenvalues[0] + off.eigenvalues[1], 13, 1e-12);
  EXPECT_NEAR(off.eigenvalues[0] * off.eigenvalues[1], 3, 1e-12);
  // Indicators of every kind are 0 or 1, which is the variance 1/12 of a uniform one about 1/2.
  for (const char* const kind : {"one_hot=[\"a\"],other=true", "hash=2", "bins=[0,18,65]"}) {
    const PublicScale of_kind =
        public_scale(read({std::string("features=[{column=\"x\",") + kind + "}]", "model.intercept=false"}).schema);
    EXPECT_TRUE(of_kind.unknown.empty()) << kind;
    ASSERT_EQ(of_kind.eigenvalues.size(), 2U) << kind;
    EXPECT_NEAR(of_kind.eigenvalues[0], 1.0 / 12, 1e-12) << kind;
    EXPECT_NEAR(of_kind.eigenvalues[1], 1.0 / 12 + 0.5, 1e-12) << kind;
  }
  const PublicScale unknown = public_scale(read({}).schema);
  EXPECT_EQ(unknown.unknown, std::vector<std::string>{"x"});
}

}  // namespace
}  // namespace nustream::config
