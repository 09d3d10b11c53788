// Every generator against z = B w with B written out, over random correlations, dimensions and blocks; and every
// restart against the run that was not interrupted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "noise/generator.h"
#include "nustream/noise/correlation.h"
#include "support/noise_generators_seed.h"

namespace nustream::noise {
namespace {

using testing::WhiteSeed;
using Random = std::mt19937_64;

double uniform(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}
std::size_t whole(Random& random, std::size_t low, std::size_t high) {
  return std::uniform_int_distribution<std::size_t>(low, high)(random);
}

Rational random_rational(Random& random) {
  if (random() % 2 == 0) return Rational::nu_ftrl(Damping{std::pow(10, uniform(random, -8, -0.05))}, random() % 15);
  std::vector<double> q;
  std::vector<double> b;
  const std::size_t poles = whole(random, 1, 14);
  for (std::size_t i = 0; i < poles; ++i) {
    q.push_back(uniform(random, 0.01, 0.999));
    b.push_back(uniform(random, 0.01, 1) / static_cast<double>(poles));
  }
  return Rational::from_poles(q, b);
}

std::vector<double> random_window(Random& random, double total) {
  std::vector<double> series{1};
  const std::size_t terms = whole(random, 0, 90);
  for (std::size_t t = 0; t < terms; ++t)
    series.push_back(uniform(random, -1, 1) * total / static_cast<double>(terms));
  return series;
}

// Rows whose inverse stays small, because the entries beside the diagonal sum to less than the diagonal entry.
Dense random_dense(Random& random, std::size_t horizon) {
  const std::size_t bands = whole(random, 1, random() % 2 == 0 ? std::min<std::size_t>(8, horizon) : horizon);
  std::vector<double> rows(Dense::entries(bands, StepCount{horizon}));
  for (std::size_t t = 0; t < horizon; ++t) {
    const std::size_t first = Dense::entries_before(t, bands);
    const std::size_t last = Dense::entries_before(t + 1, bands) - 1;
    rows[last] = uniform(random, 0.7, 1.5);
    for (std::size_t i = first; i < last; ++i)
      rows[i] = uniform(random, -0.7, 0.7) / static_cast<double>(last - first);
  }
  return {std::move(rows), bands, StepCount{horizon}};
}

// Any correlation that exists for `steps` steps and does not begin anew.
Correlation random_block(Random& random, std::size_t steps) {
  const Damping nu{std::pow(10, uniform(random, -6, -0.1))};
  const StepCount horizon{steps + random() % 50};
  switch (random() % 10) {
    case 0:
      return Correlation{Independent{}};
    case 1:
      return Correlation{NuFtrl{random() % 3 == 0 ? Damping{0} : nu, horizon}};
    case 2:
      return Correlation{random_rational(random)};
    case 3:
      return Correlation{DampedAntiPgd{nu}};
    case 4:
      return Correlation{AntiPgd{horizon}};
    case 5:
      return Correlation{Windowed{random_window(random, 0.99), {}}};
    case 6:
      return Correlation{Strategy{random_window(random, 0.9), horizon}};
    case 7:
      return Correlation{random_dense(random, steps + 400)};  // blocks reach beyond the last step
    case 8:
      return Correlation{random_rational(random), horizon};
    default:
      const auto estimator = random() % 2 == 0 ? Tree::Estimator::plain : Tree::Estimator::honaker;
      return Correlation{Tree{static_cast<unsigned>(random() % 7), estimator, true}};
  }
}

// Any correlation that exists for `steps` steps; a correlation with a horizon may begin anew there.
Correlation random_correlation(Random& random, std::size_t steps) {
  if (random() % 3 != 0) return random_block(random, steps);
  if (random() % 8 == 0) return Correlation{Restarted{Correlation{random_dense(random, whole(random, 1, 40))}}};
  const Correlation block = random_block(random, whole(random, 1, 40));
  if (block.horizon()) return Correlation{Restarted{block}};
  return random_block(random, steps);
}

// All kinds of generator that can generate the correlation.
std::vector<GeneratorKind> kinds_of(const Correlation& correlation) {
  std::vector<GeneratorKind> kinds{GeneratorKind::automatic};
  for (const auto kind : {GeneratorKind::direct, GeneratorKind::fft, GeneratorKind::recurrent, GeneratorKind::tree,
                          GeneratorKind::dense}) {
    try {
      (void)make_generator(correlation, kind, 1);
      kinds.push_back(kind);
    } catch (const Unsupported&) {
    }
  }
  return kinds;
}

struct Setting {
  std::uint64_t run;
  std::size_t steps;
  std::size_t dimension;
  std::size_t block;
  Correlation correlation;
};

Setting random_setting(std::uint64_t run) {
  Random random(run);
  const std::size_t steps = whole(random, 1, 140);
  const std::size_t block = std::size_t{1} << random() % 8;
  return {run, steps, whole(random, 1, 20), block, random_correlation(random, steps)};
}

std::string text(const Setting& setting, GeneratorKind kind) {
  return setting.correlation.name() + ", run " + std::to_string(setting.run) + ", kind " +
         std::to_string(static_cast<int>(kind));
}

// B times the seed noise by the definition, column by column.
std::vector<double> dense_twin(const Setting& setting, std::size_t seed_width) {
  const std::size_t steps = setting.steps;
  const std::size_t dimension = setting.dimension;
  const std::vector<double> matrix = dense_noise_matrix(setting.correlation, steps);
  const std::size_t levels = seed_width / dimension;
  std::vector<double> z(steps * dimension, 0.0);
  for (std::size_t row = 0; row < steps; ++row) {
    for (std::size_t column = 0; column < steps * levels; ++column) {
      const double weight = matrix[row * steps * levels + column];
      if (weight == 0) continue;
      for (std::size_t j = 0; j < dimension; ++j) {
        const double seed = testing::white(setting.run, column / levels, (column % levels) * dimension + j);
        z[row * dimension + j] += weight * seed;
      }
    }
  }
  return z;
}

TEST(EveryGenerator, EqualsTheDenseMatrix) {
  for (std::uint64_t run = 0; run < 400; ++run) {
    const Setting setting = random_setting(run);
    for (const GeneratorKind kind : kinds_of(setting.correlation)) {
      const auto generator = make_generator(setting.correlation, kind, setting.dimension);
      WhiteSeed seed(run, generator->seed_width());
      const std::vector<double> z =
          testing::run_generator(*generator, seed, setting.steps, setting.dimension, setting.block);
      const std::vector<double> expected = dense_twin(setting, generator->seed_width());
      // Here |z| is below 2·√12 times Σ|β|; 1e-12 of that leaves room for a hundred roundings a term.
      for (std::size_t i = 0; i < z.size(); ++i) ASSERT_NEAR(z[i], expected[i], 1e-12) << text(setting, kind);
    }
  }
}

// A generator is restored at the start of any block, from what a checkpoint keeps and with the older keys wiped. The
// rest of its run is the same to the bit; only FFT promises no more than the size of its rounding.
TEST(EveryGenerator, GoesOnFromAnyBlockAsIfNothingHadHappened) {
  for (std::uint64_t run = 1000; run < 1300; ++run) {
    const Setting setting = random_setting(run);
    const std::size_t dimension = setting.dimension;
    for (const GeneratorKind kind : kinds_of(setting.correlation)) {
      const auto undisturbed = make_generator(setting.correlation, kind, dimension);
      const bool to_the_bit = kind == GeneratorKind::automatic
                                  ? automatic_kind(setting.correlation) != GeneratorKind::fft
                                  : kind != GeneratorKind::fft;
      const std::size_t width = undisturbed->seed_width();
      WhiteSeed seed(run, width);
      for (std::size_t first = 0; first < setting.steps; first += setting.block) {
        const auto restored = make_generator(setting.correlation, kind, dimension);
        restored->restore(StepIndex{first}, undisturbed->memory());
        WhiteSeed newer_seed(run, width, restored->oldest_needed(StepIndex{first}));
        std::vector<double> z(setting.block * dimension);
        std::vector<double> again(setting.block * dimension);
        std::vector<double> after(setting.block * dimension);
        undisturbed->generate(StepIndex{first}, setting.block, seed, z);
        restored->generate(StepIndex{first}, setting.block, newer_seed, again);
        for (std::size_t i = 0; i < z.size(); ++i) {
          ASSERT_NEAR(z[i], again[i], to_the_bit ? 0 : 1e-13) << text(setting, kind) << " step " << first;
        }
        // Both have to remember the same as well.
        ASSERT_EQ(undisturbed->memory(), restored->memory()) << text(setting, kind);
        newer_seed.forget_before(restored->oldest_needed(StepIndex{first + setting.block}));
        restored->generate(StepIndex{first + setting.block}, setting.block, newer_seed, after);
      }
    }
  }
}

// A generator that has already run may be restored too; it must not go on with the window of where it was.
TEST(EveryGenerator, ForgetsWhereItWasWhenRestored) {
  for (std::uint64_t run = 3000; run < 3100; ++run) {
    const Setting setting = random_setting(run);
    for (const GeneratorKind kind : kinds_of(setting.correlation)) {
      const auto generator = make_generator(setting.correlation, kind, setting.dimension);
      const std::vector<double> fresh = generator->memory();
      WhiteSeed other_seed(run + 1, generator->seed_width());
      WhiteSeed seed(run, generator->seed_width());
      const auto again = make_generator(setting.correlation, kind, setting.dimension);
      (void)testing::run_generator(*again, other_seed, setting.steps, setting.dimension, setting.block);
      again->restore(StepIndex{0}, fresh);
      EXPECT_EQ(testing::run_generator(*again, seed, setting.steps, setting.dimension, setting.block),
                testing::run_generator(*generator, seed, setting.steps, setting.dimension, setting.block))
          << text(setting, kind);
    }
  }
}

// In a run without restarts, the seed noise of no step is drawn a second time.
TEST(EveryGenerator, DrawsEachStepOnce) {
  class OnceSeed final : public SeedNoise {
   public:
    void fill(StepIndex first, std::size_t steps, std::span<double> out) override {
      if (first.value() != next_) throw std::logic_error("drawn before, or left out");
      next_ += steps;
      std::fill(out.begin(), out.end(), 0.0);
    }

   private:
    std::uint64_t next_ = 0;
  };
  for (std::uint64_t run = 4000; run < 4100; ++run) {
    const Setting setting = random_setting(run);
    for (const GeneratorKind kind : kinds_of(setting.correlation)) {
      const auto generator = make_generator(setting.correlation, kind, setting.dimension);
      OnceSeed seed;
      const bool ends = std::holds_alternative<Dense>(setting.correlation.family());
      const std::size_t steps = ends ? setting.correlation.horizon()->value() : 5000;
      EXPECT_NO_THROW((void)testing::run_generator(*generator, seed, steps, setting.dimension, 512))
          << text(setting, kind);
    }
  }
}

// The size of the blocks decides the speed, and never the noise.
TEST(EveryGenerator, GivesTheSameInBlocksOfAnySize) {
  for (std::uint64_t run = 2000; run < 2200; ++run) {
    const Setting setting = random_setting(run);
    for (const GeneratorKind kind : kinds_of(setting.correlation)) {
      const auto one = make_generator(setting.correlation, kind, setting.dimension);
      const auto other = make_generator(setting.correlation, kind, setting.dimension);
      WhiteSeed seed(run, one->seed_width());
      const std::vector<double> z =
          testing::run_generator(*one, seed, setting.steps, setting.dimension, setting.block);
      const std::vector<double> sliced =
          testing::run_generator(*other, seed, setting.steps, setting.dimension, setting.steps);
      for (std::size_t i = 0; i < z.size(); ++i) ASSERT_NEAR(z[i], sliced[i], 1e-13) << text(setting, kind);
    }
  }
}

}  // namespace
}  // namespace nustream::noise
