// Mirrors docs/formats/lane.md.
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "nustream/base/error.h"
#include "nustream/lane/lane.h"

namespace nustream::lane {
namespace {

constexpr std::string_view magic_and_version{"nu-lane\x01", 8};
constexpr std::uint64_t canonical_nan = 0x7ff8000000000000;

[[noreturn]] void refuse(const char* value, const char* allowed) {
  throw InvalidParameter("lane_state", value, allowed);
}

class Writer {
 public:
  void text(std::string_view bytes) { bytes_ += bytes; }
  void integer(std::uint64_t value) {
    for (unsigned shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(value >> shift & 0xff);
  }
  void real(double value) { integer(std::isnan(value) ? canonical_nan : std::bit_cast<std::uint64_t>(value)); }
  void reals(std::span<const double> values) {
    for (const double value : values) real(value);
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  std::string_view text(std::size_t size) {
    if (left_.size() < size) refuse("cut short", "a whole state");
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  std::uint64_t integer() {
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (const char byte : text(8)) {
      value |= std::uint64_t{static_cast<unsigned char>(byte)} << shift;
      shift += 8;
    }
    return value;
  }
  double real() {
    const std::uint64_t bits = integer();
    const auto value = std::bit_cast<double>(bits);
    if (std::isnan(value) && bits != canonical_nan) refuse("a NaN of another form", "the canonical NaN");
    return value;
  }
  std::vector<double> reals(std::size_t count) {
    if (left_.size() / 8 < count) refuse("cut short", "a whole state");
    std::vector<double> values(count);
    for (double& value : values) value = real();
    return values;
  }
  void end() const {
    if (!left_.empty()) refuse("followed by more bytes", "a whole state and nothing else");
  }

 private:
  std::string_view left_;
};

}  // namespace

std::string Lane::encode() const {
  Writer writer;
  writer.text(magic_and_version);
  writer.integer(settings_.dimension);
  writer.integer(steps_);
  writer.integer(position_);
  writer.real(average_.weight());
  writer.reals(theta());
  writer.reals(average_.value());
  if (batches_) {
    writer.integer(batches_->length());
    writer.integer(batches_->count());
    writer.reals(batches_->means());
  }
  if (moments_) {
    writer.reals(moments_->bread());
    writer.reals(moments_->meat());
  }
  return writer.take();
}

Lane Lane::decode(Settings settings, std::span<const noise::Grid> grids, std::string_view bytes) {
  Reader reader(bytes);
  if (reader.text(magic_and_version.size()) != magic_and_version) {
    refuse("bytes of something else, or of another version", "a lane's state, version 1");
  }
  const std::uint64_t dimension = reader.integer();
  if (dimension != settings.dimension) refuse("a state of another dimension", "the settings' dimension");
  Lane lane(std::move(settings), grids, Position{0});
  lane.steps_ = reader.integer();
  lane.position_ = reader.integer();
  const double weight = reader.real();
  const std::vector<double> theta = reader.reals(dimension);
  std::visit([&](auto& loop) { loop.set_theta(theta); }, lane.loop_);
  lane.average_.restore(weight, reader.reals(weight > 0 ? dimension : 0), lane.steps());
  if (lane.batches_) {
    const std::uint64_t length = reader.integer();
    const std::uint64_t count = reader.integer();
    if (count >= 2 * lane.settings_.batching->batches) refuse("more batches than can be", "a whole state");
    lane.batches_->restore(length, reader.reals(count * dimension));
    if (lane.steps() >= lane.batches_->next_boundary()) refuse("batches behind the steps", "a whole state");
  }
  if (lane.moments_) {
    const std::vector<double> bread = reader.reals(lane.moments_->bread().size());
    lane.moments_->restore(bread, reader.reals(lane.moments_->meat().size()));
  }
  reader.end();
  return lane;
}

}  // namespace nustream::lane
