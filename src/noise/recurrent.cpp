// The default generator, a filter with m states for each coordinate. It reads no old seed noise, so a checkpoint
// needs one key and the states. The loops themselves are in kernel_recurrent.h and kernel_lookahead.h.
#include "generator.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kernels.h"
#include "nustream/base/error.h"

namespace nustream::noise {
namespace {

// The table of the strides. It takes products of the p_i alone and no library function, so the bits are the same
// everywhere.
LookaheadTable lookahead_table(const std::vector<double>& p, const std::vector<double>& a) {
  LookaheadTable table{};
  // With more poles than that the kernels do not read the table.
  if (p.size() > most_unrolled_poles) return table;
  double beta[lookahead_steps] = {};
  // All powers of p_i come from repeated products, as docs/formats/noise.md (Correlated noise) has them.
  for (std::size_t i = 0; i < p.size(); ++i) {
    double power = 1;
    // Step k of a stride takes a_i p_i^k of the state at the start (decay). The state after the stride takes p_i^8 of
    // that state (survival), and p_i^{7−j} of the seed noise of step j (arrival).
    for (std::size_t k = 0; k < lookahead_steps; ++k) {
      table.decay[i][k] = a[i] * power;
      table.arrival[lookahead_steps - 1 - k][i] = power;
      beta[k] -= table.decay[i][k];
      power *= p[i];
    }
    table.survival[i] = power;
  }
  // Step k also takes β_{k−j} of the seed noise of each earlier step j of the same stride.
  for (std::size_t j = 0; j + 1 < lookahead_steps; ++j) {
    for (std::size_t k = j + 1; k < lookahead_steps; ++k) table.beta[j][k] = beta[k - j - 1];
  }
  return table;
}

class Recurrent final : public Generator {
 public:
  Recurrent(std::vector<double> p, std::vector<double> a, std::size_t dimension, InstructionSet set)
      : p_(std::move(p)),
        a_(std::move(a)),
        dimension_(dimension),
        lookahead_(lookahead_table(p_, a_)),
        kernels_(kernels(set)),
        states_(p_.size() * dimension) {}

  [[nodiscard]] std::size_t seed_width() const override { return dimension_; }

  // The states hold all that is needed of earlier seed noise.
  [[nodiscard]] StepIndex oldest_needed(StepIndex block_first) const override { return block_first; }

  [[nodiscard]] std::vector<double> memory() const override { return states_; }
  void copy_memory(std::vector<double>& out) const override { out = states_; }

  void restore(StepIndex /*block_first*/, std::span<const double> memory) override {
    if (memory.size() != states_.size()) {
      throw InvalidParameter("checkpoint memory", std::to_string(memory.size()) + " values",
                             "poles times dimension: " + std::to_string(states_.size()));
    }
    std::copy(memory.begin(), memory.end(), states_.begin());
  }

  // The seed noise is written into z itself, and the kernel replaces it in place.
  void generate(StepIndex block_first, std::size_t steps, SeedNoise& seed, std::span<double> z) override {
    seed.fill(block_first, steps, z);
    kernels_.recurrent({p_.size(), p_.data(), a_.data(), &lookahead_}, states_.data(), z.data(), dimension_, steps);
  }

 private:
  std::vector<double> p_;
  std::vector<double> a_;
  std::size_t dimension_;
  LookaheadTable lookahead_;
  const Kernels& kernels_;
  std::vector<double> states_;
};

}  // namespace

std::unique_ptr<Generator> make_recurrent(std::vector<double> p, std::vector<double> a, std::size_t dimension,
                                          InstructionSet set) {
  NUSTREAM_REQUIRE(p.size() == a.size(), "as many weights as poles");
  return std::make_unique<Recurrent>(std::move(p), std::move(a), dimension, set);
}

std::unique_ptr<Generator> make_recurrent(const Rational& rational, std::size_t dimension, InstructionSet set) {
  return make_recurrent(rational.p(), rational.a(), dimension, set);
}

std::unique_ptr<Generator> make_recurrent(const Rational& rational, std::size_t dimension) {
  return make_recurrent(rational, dimension, fastest_instruction_set());
}

}  // namespace nustream::noise
