// The interface of everything that turns seed noise into correlated noise; private to the noise room. NoiseSource
// drives one of these.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"
#include "nustream/noise/source.h"

namespace nustream::noise {

/// The seed noise w of one stage. It can be read at any step and coordinate while the keys of the step's block are
/// held.
class SeedNoise {
 public:
  virtual ~SeedNoise() = default;
  /// Fills `out`, row-major steps × width, with independent N(0, 1) samples of the steps [first, first + steps).
  virtual void fill(StepIndex first, std::size_t steps, std::span<double> out) = 0;
};

/// One way to compute z = B w. It is called block by block, in order, from the step on where the constructor or
/// restore() put it. Such a block is one of the key chain, or the part of it that begins or ends with a segment.
class Generator {
 public:
  virtual ~Generator() = default;
  /// How many samples of seed noise a step draws: the dimension, or levels × dimension for a tree.
  [[nodiscard]] virtual std::size_t seed_width() const = 0;
  /// The earliest step whose seed noise is read again to generate the block that begins at `block_first`.
  [[nodiscard]] virtual StepIndex oldest_needed(StepIndex block_first) const = 0;
  /// The most steps before a block's first one that are read again: oldest_needed() goes no further back.
  [[nodiscard]] virtual std::uint64_t reach() const { return 0; }
  /// What the generator remembers at the start of the next block, apart from seed noise; restore() takes it back.
  [[nodiscard]] virtual std::vector<double> memory() const = 0;
  /// Copies memory() into `out` and reuses its storage; the hot path calls this.
  virtual void copy_memory(std::vector<double>& out) const { out = memory(); }
  /// Whether memory() is empty at every block, so that restore() may go to any block that the keys reach.
  [[nodiscard]] virtual bool memoryless() const { return false; }
  virtual void restore(StepIndex block_first, std::span<const double> memory) = 0;
  /// Writes z of the next block, row-major steps × dimension, in units of the seed noise's standard deviation.
  virtual void generate(StepIndex block_first, std::size_t steps, SeedNoise& seed, std::span<double> z) = 0;
};

/// Makes the generator of `kind` for `correlation`. Throws Unsupported where that kind cannot generate it.
[[nodiscard]] std::unique_ptr<Generator> make_generator(const Correlation& correlation, GeneratorKind kind,
                                                        std::size_t dimension);
/// The kind that `automatic` stands for with this correlation.
[[nodiscard]] GeneratorKind automatic_kind(const Correlation& correlation);

/// Makes the recurrent filter of a rational correlation. Independent noise has zero poles.
[[nodiscard]] std::unique_ptr<Generator> make_recurrent(const Rational& rational, std::size_t dimension);

}  // namespace nustream::noise
