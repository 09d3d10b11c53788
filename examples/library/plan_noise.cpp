// Computes what noise costs before any data exist: γ of a correlation, σ for a budget, and the spend as a stream goes
// on.
#include <cstdio>

#include "nustream/noise/correlation.h"
#include "nustream/privacy/epsilon.h"
#include "nustream/privacy/sensitivity.h"
#include "nustream/privacy/zcdp.h"

using namespace nustream;

namespace {

void plan(const noise::Correlation& correlation, Rho budget) {
  const auto once = privacy::Participation::once();  // each record is read once
  const Sensitivity gamma = privacy::sensitivity_limit(correlation, once);
  const NoiseMultiplier sigma = privacy::multiplier_for(gamma, budget);
  const privacy::Spend spend(correlation, once, sigma);
  std::printf("%-16s gamma %.9f  sigma %.9f  rho", correlation.name().c_str(), gamma.value(), sigma.value());
  for (const std::uint64_t steps : {1ULL, 100ULL, 10'000ULL}) {
    std::printf(" %.9f", spend.after(StepCount{steps}).value());
  }
  std::printf("  epsilon %.6f\n", privacy::epsilon(spend.limit(), Delta{1e-6}).value());
}

}  // namespace

int main() {
  const Rho budget{0.5};
  const Damping nu{0.01};
  plan(noise::Correlation{noise::Independent{}}, budget);
  plan(noise::Correlation{noise::DampedAntiPgd{nu}}, budget);
  plan(noise::Correlation{noise::Rational::nu_ftrl(nu)}, budget);
}
