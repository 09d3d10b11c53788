// The permutation of positions and its inverse, by products modulo n of 128 bits, and the dealing of places into
// parts. Both are functions of n and of counts alone; no record is read.
#include "nustream/ranges/stride.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "nustream/base/error.h"

namespace nustream::ranges {
namespace {

__extension__ typedef unsigned __int128 WideProduct;

std::uint64_t product(std::uint64_t a, std::uint64_t b, std::uint64_t modulus) noexcept {
  return static_cast<std::uint64_t>(WideProduct{a} * b % modulus);
}

/// With no more records than this the sum of two residues fits into 64 bits.
constexpr std::uint64_t most_records = std::uint64_t{1} << 62;

std::uint64_t multiplier_for(std::uint64_t records) {
  if (records == 0 || records > most_records) {
    throw InvalidParameter("records", std::to_string(records), "from 1 to 2^62");
  }
  constexpr double golden = 0.6180339887498949;
  // g must be odd and prime to the number of records; one of the next few odd numbers is.
  std::uint64_t candidate = static_cast<std::uint64_t>(golden * static_cast<double>(records)) | 1U;
  // The search ends, because an odd number that is prime to n follows sooner or later.
  while (std::gcd(candidate, records) != 1) candidate += 2;
  return candidate;
}

/// The inverse by Euclid's algorithm; it is 0 modulo 1.
std::uint64_t inverse_of(std::uint64_t multiplier, std::uint64_t modulus) {
  if (modulus == 1) return 0;
  std::uint64_t before = modulus;
  std::uint64_t rest = multiplier % modulus;
  std::uint64_t coefficient_before = 0;
  std::uint64_t coefficient = 1;
  while (rest > 1) {
    const std::uint64_t quotient = before / rest;
    const std::uint64_t step = product(quotient, coefficient, modulus);
    // Coefficients stay within [0, n): a difference is taken by adding n first.
    coefficient_before = std::exchange(coefficient, (coefficient_before + (modulus - step)) % modulus);
    before = std::exchange(rest, before % rest);
  }
  return coefficient;
}

}  // namespace

Stride::Stride(std::uint64_t records)
    : records_(records), multiplier_(multiplier_for(records)), inverse_(inverse_of(multiplier_, records)) {}

std::uint64_t Stride::place(std::uint64_t position) const noexcept {
  return product(position, multiplier_, records_);
}

std::uint64_t Stride::position(std::uint64_t place) const noexcept {
  return product(place, inverse_, records_);
}

Part Dealer::deal(std::uint64_t count) noexcept {
  const Part part{taken_, std::min(count, records_ - taken_)};
  taken_ += part.count;
  return part;
}

}  // namespace nustream::ranges
