// Everything that turns seed noise into correlated noise: the interface, which NoiseSource drives, and its
// implementations, each in a source of its own; private to the noise room.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"
#include "nustream/noise/dense.h"
#include "nustream/noise/gaussian.h"
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

/// One way to compute z = B w. It is called block by block, in order, beginning at the step that the constructor or
/// restore() was given. Such a block is one of the key chain, or the part of it that begins or ends with a segment.
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

/// z_t = w_t − Σ_i a_i s_{i,t}, s_{i,t+1} = p_i s_{i,t} + w_t, s_{i,0} = 0, on the loops of `set`. A sample costs 2m
/// multiply-adds, and the memory is m values per coordinate, row-major poles × dimension. Zero poles give z = w.
///
/// Source: docs/notation.md; the states s belong to the terms of β_t = −Σ_i a_i p_i^{t−1}.
[[nodiscard]] std::unique_ptr<Generator> make_recurrent(const Rational& rational, std::size_t dimension,
                                                        InstructionSet set);
/// The same filter from the p_i and a_i of β_t = −Σ_i a_i p_i^{t−1}. There must be as many weights as poles.
[[nodiscard]] std::unique_ptr<Generator> make_recurrent(std::vector<double> p, std::vector<double> a,
                                                        std::size_t dimension, InstructionSet set);

/// z_t = Σ_{s < min(W, t+1)} β_s w_{t−s} with W = beta.size() ≥ 1. O(W) per sample. It remembers the last W − 1 steps
/// of seed noise, and reads them again after restore(). The order of the sum depends on neither block nor restart, so
/// z is the same to the bit.
[[nodiscard]] std::unique_ptr<Generator> make_direct(std::vector<double> beta, std::size_t dimension);

/// The z of make_direct(), W = beta.size(), at O(log W) per sample. It agrees to about 2e-15 of the seed noise's
/// standard deviation, but not to the bit, because FFTW picks its code by processor.
///
/// The method is overlap-save with transforms of length N ≥ 2048, about 4 W (2 T where the horizon T is that short).
/// They cover stretches of N − W + 1 steps, which begin at absolute multiples of that length. The seed noise of a
/// whole stretch is read ahead of the block that asks for it, and the W − 1 steps before it are read again after
/// restore(). It takes memory for N samples per coordinate.
[[nodiscard]] std::unique_ptr<Generator> make_fft(std::span<const double> beta, std::size_t dimension,
                                                  const std::optional<StepCount>& horizon);

/// z_t = (w_t − Σ_{s<t} C_ts z_s)/C_tt by forward substitution: O(bands) per sample, and B is never written out. Each
/// z depends on all seed noise since step 0, so all of it is read again after restore(). In memory it keeps the z of
/// bands − 1 steps. Terms are subtracted from the oldest step to the latest, whatever the block, so z is the same to
/// the bit in any slicing.
[[nodiscard]] std::unique_ptr<Generator> make_forward(const Dense& encoder, std::size_t dimension);

/// z_t = P_t − P_{t−1}, where P_t is the noise of the prefix sum up to t. P_t is estimated from the completed nodes
/// of the tree: from the fewest that cover [0, t] (plain), or with the least variance (honaker). Seed noise is levels
/// × dimension wide with levels = height + 1, and the node of level ℓ is drawn at the step that completes it. The
/// generator remembers one value for each coordinate and each level below the root, never the seed noise of an older
/// step.
///
/// A tree without restarts goes on past its last step as if it had them. The caller who takes the steps keeps the
/// horizon.
///
/// Source: Kairouz et al. 2021, Appendix B; Honaker 2015 ("online").
[[nodiscard]] std::unique_ptr<Generator> make_tree(const Tree& tree, std::size_t dimension);

/// The weight of a completed node of this level in the estimate of its subtree. It is also the variance of that
/// estimate in units of the seed noise's variance. Under Honaker it is 1/(2 − 2^−ℓ).
[[nodiscard]] double own_weight(unsigned level, Tree::Estimator estimator);

/// The largest standard deviation of any z_t, in units of the seed noise's standard deviation.
[[nodiscard]] double largest_tree_stddev(const Tree& tree);

/// Generates z of consecutive stretches of `every` steps, each as `block` generates it from its own step 0 on. The
/// seed noise is still that of the absolute step, and no seed noise of an earlier stretch is read again.
[[nodiscard]] std::unique_ptr<Generator> make_restarted(std::unique_ptr<Generator> block, StepCount every,
                                                        std::size_t dimension);

}  // namespace nustream::noise
