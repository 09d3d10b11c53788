// Reads and writes the bytes of canonical states (docs/formats/lane.md, docs/formats/moments.md): little-endian
// integers and doubles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nustream {

/// Writes values so that equal ones give equal bytes on every machine. All NaNs are written alike; +0 and −0 are
/// written differently.
class CanonicalWriter {
 public:
  void text(std::string_view bytes) { bytes_ += bytes; }
  void integer(std::uint64_t value);
  void real(double value);
  void reals(std::span<const double> values) {
    for (const double value : values) real(value);
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads what CanonicalWriter wrote. Every function throws InvalidParameter, under the given name, for bytes that no
/// writer wrote.
class CanonicalReader {
 public:
  CanonicalReader(const char* name, std::string_view bytes) : name_(name), left_(bytes) {}

  [[nodiscard]] std::string_view text(std::size_t size);
  [[nodiscard]] std::uint64_t integer();
  [[nodiscard]] double real();
  /// Reads `count` numbers. It allocates no more than there are bytes for.
  [[nodiscard]] std::vector<double> reals(std::size_t count);
  [[nodiscard]] bool is_at_end() const noexcept { return left_.empty(); }
  /// Requires that nothing is left.
  void end() const;
  [[noreturn]] void refuse(const char* value, const char* allowed) const;

 private:
  const char* name_;
  std::string_view left_;
};

}  // namespace nustream
