// Prints one number for the bits of every kind of fitted correlation. optimised_aarch64.sh compares two
// architectures.
#include <cinttypes>
#include <cstdio>

#include "nustream/privacy/known_length.h"
#include "nustream/privacy/optimised.h"
#include "nustream/privacy/optimised_descent.h"
#include "privacy_optimised_bits.h"

namespace nustream::privacy {
namespace {

void print(const noise::Correlation& correlation) {
  std::printf("%s %" PRIu64 "\n", correlation.name().c_str(), testing::bits(correlation));
}

int run() {
  for (const PrefixError error : {PrefixError::largest, PrefixError::mean}) {
    const PrefixSums once{StepCount{300}, Participation::once(), error};
    const PrefixSums several{StepCount{300}, {4, 60}, error};
    print(optimised_toeplitz(once));
    print(optimised_toeplitz(once, 20));
    print(optimised_toeplitz(several));
    print(optimised_rational(once, 5));
    print(optimised_rational(several, 3));
    print(optimised_dense(once));
  }
  print(optimised_dense({StepCount{300}, {4, 60}, PrefixError::mean}));
  print(full_honaker(8));
  print(circulant(StepCount{300}));
  const StronglyConvex convex{StepSize{0.5}, 0.02, 1};
  print(optimised_window(convex));
  print(optimised_rational(convex, 5));
  const LocalProblem known{{1, 0.3, 0.02}, StepSize{0.1}, Curvature::gaussian_features};
  print(optimised_window(known, 1000));
  print(optimised_rational(known, 5));
  return 0;
}

}  // namespace
}  // namespace nustream::privacy

int main() {
  return nustream::privacy::run();
}
