// Writes and reads the numbers of a state: 8 bytes each, little-endian. One state has one form, so that states can be
// compared by their bytes (docs/formats/lane.md, Canonical).
#include "base/canonical.h"

#include <bit>
#include <cmath>

#include "nustream/base/error.h"

namespace nustream {
namespace {

/// The one form in which a NaN is written: positive, quiet and without a payload.
constexpr std::uint64_t canonical_nan = 0x7ff8000000000000;

}  // namespace

void CanonicalWriter::integer(std::uint64_t value) {
  // Bytes are shifted out one by one, so the order does not depend on the machine.
  for (unsigned shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(value >> shift & 0xff);
}

void CanonicalWriter::real(double value) {
  integer(std::isnan(value) ? canonical_nan : std::bit_cast<std::uint64_t>(value));
}

// All other reads go through this one, so the end of the bytes is checked in a single place.
std::string_view CanonicalReader::text(std::size_t size) {
  if (left_.size() < size) refuse("cut short", "a whole state");
  const std::string_view taken = left_.substr(0, size);
  left_.remove_prefix(size);
  return taken;
}

std::uint64_t CanonicalReader::integer() {
  std::uint64_t value = 0;
  unsigned shift = 0;
  for (const char byte : text(8)) {
    value |= std::uint64_t{static_cast<unsigned char>(byte)} << shift;
    shift += 8;
  }
  return value;
}

double CanonicalReader::real() {
  const std::uint64_t bits = integer();
  // Equal states have equal bytes, so a NaN of any other form was not written by real().
  const auto value = std::bit_cast<double>(bits);
  if (std::isnan(value) && bits != canonical_nan) refuse("a NaN of another form", "the canonical NaN");
  return value;
}

std::vector<double> CanonicalReader::reals(std::size_t count) {
  // The size is checked before memory is taken for a number that the bytes claim.
  if (left_.size() / 8 < count) refuse("cut short", "a whole state");
  std::vector<double> values(count);
  for (double& value : values) value = real();
  return values;
}

void CanonicalReader::end() const {
  if (!left_.empty()) refuse("followed by more bytes", "a whole state and nothing else");
}

void CanonicalReader::refuse(const char* value, const char* allowed) const {
  throw InvalidParameter(name_, value, allowed);
}

}  // namespace nustream
