// Independent values for running sums, computed by mpmath with 40 digits, or by exhaustive search where a comment
// says so. Squared standard deviations are in units of Δ²/(2ρ).
#pragma once

#include <cstdint>

namespace nustream::moments::reference {

struct KnownLength {
  std::uint64_t releases;
  double variance;  ///< γ_K⁴ at ν = 0
};
inline constexpr KnownLength known_lengths[] = {
    {1, 1.0}, {10, 3.2089131170572}, {398, 8.83054217666862}, {10000, 15.9840862874406}};

struct PlainSum {
  double nu;
  std::uint64_t releases;
  double variance;  ///< γ_∞² Σ_{t<K} r_t²
};
inline constexpr PlainSum plain_sums[] = {
    {1e-6, 398, 15.0362670156269}, {1e-6, 10000, 20.260276620488}, {1e-4, 398, 10.7705205445895}};

struct ForgettingSum {
  double nu;
  std::uint64_t steps;
  double variance;  ///< γ_∞² γ_t²
};
inline constexpr ForgettingSum forgetting_sums[] = {
    {.01, 1, 2.13687826111111}, {.01, 100, 4.53305310373725}, {.001, 1000, 8.14642160792564}};

struct SeveralRecords {
  double nu;
  std::uint64_t steps, batch, times, separation;
  double squared_sensitivity;  ///< the largest value that an exhaustive search found
};
inline constexpr SeveralRecords several_records[] = {{0, 6, 3, 2, 1, 6.49444580078125},
                                                     {0, 6, 3, 3, 2, 11.88720703125},
                                                     {0, 6, 3, 3, 4, 9.791458129882812},
                                                     {.1, 6, 4, 3, 3, 9.870008458648492},
                                                     {0, 8, 2, 3, 5, 8.338355302810669}};

struct ReplaceOne {
  double second, responses;  ///< the ρ of each by itself
  double together;
};
inline constexpr ReplaceOne replacements[] = {{.5, .5, .78125}, {.1, .9, .9}, {.7, .3, .8580357142857142}};

}  // namespace nustream::moments::reference
