// Which generator takes which correlation, and what it says where it cannot.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "noise/generator.h"
#include "nustream/noise/correlation.h"

namespace nustream::noise {
namespace {

const Correlation independent{Independent{}};
const Correlation rational{Rational::nu_ftrl(Damping{1e-3})};
const Correlation tree{Tree{3, Tree::Estimator::honaker, true}};
const Correlation dense{Dense({1, 0.5, 1}, 2, StepCount{2})};
const Correlation endless_nu{NuFtrl{Damping{1e-3}, {}}};

TEST(AutomaticKind, TakesTheCheapestThatCanDoIt) {
  EXPECT_EQ(automatic_kind(independent), GeneratorKind::recurrent);
  EXPECT_EQ(automatic_kind(rational), GeneratorKind::recurrent);
  EXPECT_EQ(automatic_kind(tree), GeneratorKind::tree);
  EXPECT_EQ(automatic_kind(dense), GeneratorKind::dense);
  EXPECT_EQ(automatic_kind(Correlation{DampedAntiPgd{Damping{0.1}}}), GeneratorKind::direct);
  EXPECT_EQ(automatic_kind(Correlation{AntiPgd{StepCount{1'000'000}}}), GeneratorKind::direct);
  EXPECT_EQ(automatic_kind(windowed_nu(Damping{1e-3}, 64)), GeneratorKind::direct);
  EXPECT_EQ(automatic_kind(windowed_nu(Damping{1e-3}, 65)), GeneratorKind::fft);
  EXPECT_EQ(automatic_kind(Correlation{NuFtrl{Damping{0}, StepCount{64}}}), GeneratorKind::direct);
  EXPECT_EQ(automatic_kind(Correlation{NuFtrl{Damping{0}, StepCount{5000}}}), GeneratorKind::fft);
  EXPECT_EQ(automatic_kind(Correlation{Strategy{{1, 0.5}, StepCount{5000}}}), GeneratorKind::fft);
}

// Exact ν without an end would need all earlier noise; the refusal names the correlation that does not need it.
TEST(MakeGenerator, RefusesEndlessNuWithAPointerToRational) {
  for (const auto kind : {GeneratorKind::automatic, GeneratorKind::direct, GeneratorKind::fft}) {
    try {
      (void)make_generator(endless_nu, kind, 1);
      FAIL() << "generated";
    } catch (const Unsupported& refusal) {
      EXPECT_NE(std::string(refusal.what()).find("rational"), std::string::npos);
    }
  }
  EXPECT_THROW((void)automatic_kind(endless_nu), Unsupported);
  EXPECT_THROW((void)make_generator(endless_nu, GeneratorKind::recurrent, 1), Unsupported);
  EXPECT_THROW((void)make_generator(endless_nu, GeneratorKind::tree, 1), Unsupported);
}

// A horizon makes the window of every Toeplitz correlation finite.
TEST(MakeGenerator, ConvolvesWhatStopsAtAHorizon) {
  const Correlation stopped{Rational::nu_ftrl(Damping{1e-3}), StepCount{100}};
  EXPECT_EQ(automatic_kind(stopped), GeneratorKind::recurrent);
  EXPECT_NO_THROW((void)make_generator(stopped, GeneratorKind::direct, 1));
  EXPECT_NO_THROW((void)make_generator(stopped, GeneratorKind::fft, 1));
  EXPECT_NO_THROW(
      (void)make_generator(Correlation{NuFtrl{Damping{1e-3}, {}}, StepCount{100}}, GeneratorKind::fft, 1));
}

TEST(MakeGenerator, RefusesPairsThatCannotWork) {
  EXPECT_THROW((void)make_generator(rational, GeneratorKind::direct, 1), Unsupported);
  EXPECT_THROW((void)make_generator(rational, GeneratorKind::fft, 1), Unsupported);
  EXPECT_THROW((void)make_generator(rational, GeneratorKind::tree, 1), Unsupported);
  EXPECT_THROW((void)make_generator(tree, GeneratorKind::direct, 1), Unsupported);
  EXPECT_THROW((void)make_generator(tree, GeneratorKind::fft, 1), Unsupported);
  EXPECT_THROW((void)make_generator(tree, GeneratorKind::recurrent, 1), Unsupported);
  EXPECT_THROW((void)make_generator(windowed_nu(Damping{0.1}, 4), GeneratorKind::recurrent, 1), Unsupported);
  EXPECT_THROW((void)make_generator(independent, GeneratorKind::tree, 1), Unsupported);
  for (const auto kind : {GeneratorKind::direct, GeneratorKind::fft, GeneratorKind::recurrent, GeneratorKind::tree}) {
    EXPECT_THROW((void)make_generator(dense, kind, 1), Unsupported);
  }
  EXPECT_THROW((void)make_generator(independent, GeneratorKind::dense, 1), Unsupported);
  const Correlation vast{NuFtrl{Damping{0}, StepCount{std::uint64_t{1} << 27}}};
  EXPECT_THROW((void)make_generator(vast, GeneratorKind::fft, 1), Unsupported);
}

TEST(MakeGenerator, WindowsReadAsFarBackAsTheyReachAndNoFurther) {
  const auto direct = make_generator(windowed_nu(Damping{0.1}, 10), GeneratorKind::direct, 2);
  EXPECT_EQ(direct->oldest_needed(StepIndex{0}), StepIndex{0});
  EXPECT_EQ(direct->oldest_needed(StepIndex{5}), StepIndex{0});
  EXPECT_EQ(direct->oldest_needed(StepIndex{1000}), StepIndex{991});
  EXPECT_EQ(make_generator(independent, GeneratorKind::direct, 2)->oldest_needed(StepIndex{7}), StepIndex{7});

  // Stretches have 2048 − 299 steps: a block inside a stretch needs all of it, and the window before it.
  const auto fft = make_generator(windowed_nu(Damping{0.1}, 300), GeneratorKind::fft, 2);
  EXPECT_EQ(fft->oldest_needed(StepIndex{0}), StepIndex{0});
  EXPECT_EQ(fft->oldest_needed(StepIndex{1748}), StepIndex{0});
  EXPECT_EQ(fft->oldest_needed(StepIndex{1749}), StepIndex{1450});
  EXPECT_EQ(fft->oldest_needed(StepIndex{3497}), StepIndex{1450});
  EXPECT_EQ(fft->oldest_needed(StepIndex{3498}), StepIndex{3199});

  const auto finite = make_generator(Correlation{NuFtrl{Damping{0}, StepCount{3000}}}, GeneratorKind::fft, 2);
  EXPECT_EQ(finite->oldest_needed(StepIndex{2999}), StepIndex{0});
}

TEST(MakeGenerator, WindowsRefuseAForeignMemory) {
  for (const auto kind : {GeneratorKind::direct, GeneratorKind::fft}) {
    const auto generator = make_generator(windowed_nu(Damping{0.1}, 10), kind, 2);
    EXPECT_TRUE(generator->memory().empty());
    EXPECT_THROW(generator->restore(StepIndex{4}, std::vector<double>(1)), InvalidParameter);
  }
}

// A block out of order would pair a step with the noise of another step.
TEST(MakeGeneratorDeathTest, BlocksOutOfOrderEndTheProcess) {
  class Zero final : public SeedNoise {
    void fill(StepIndex, std::size_t, std::span<double> out) override { std::fill(out.begin(), out.end(), 0.0); }
  };
  for (const Correlation& correlation : {windowed_nu(Damping{0.1}, 10), tree}) {
    const auto generator = make_generator(correlation, GeneratorKind::automatic, 1);
    Zero seed;
    std::vector<double> z(8);
    generator->generate(StepIndex{0}, 8, seed, z);
    EXPECT_DEATH(generator->generate(StepIndex{0}, 8, seed, z), "in order");
    EXPECT_DEATH(generator->generate(StepIndex{16}, 8, seed, z), "in order");
  }
}

}  // namespace
}  // namespace nustream::noise
