// Makes a number of the text of one field. A text that cannot be read becomes a NaN, and spoils its own record alone.
#include <algorithm>

#include "nustream/record/number.h"
#include "nustream/record/row.h"
#include "nustream/record/timestamp.h"
#include "record/unreadable.h"

namespace nustream::record {
namespace {

/// The place of `text`, without the spaces and tabs around it, among `labels`.
double place_of(std::string_view text, std::span<const std::string> labels) noexcept {
  constexpr std::string_view spaces = " \t";
  const std::size_t begin = std::min(text.find_first_not_of(spaces), text.size());
  // Of a blank text nothing is left.
  text = text.substr(begin, text.find_last_not_of(spaces) + 1 - begin);
  const auto found = std::find(labels.begin(), labels.end(), text);
  return found == labels.end() ? unreadable : static_cast<double>(found - labels.begin());
}

}  // namespace

double unreadable_text(std::string_view text) noexcept {
  return text.find_first_not_of(" \t") == std::string_view::npos ? empty : unreadable;
}

namespace {

/// Reads a field of the column that names users. Returns a number by which the field's reader finds the user again,
/// `unreadable` where the record is nobody's, and 0 where the field has no such reader.
double read_user(const Field& field, std::string_view text) noexcept {
  const bool is_nobody =
      text.empty() || std::find(field.labels.begin(), field.labels.end(), text) != field.labels.end();
  if (is_nobody) return unreadable;
  return field.users == nullptr ? 0 : field.users->read(text);
}

/// The hour or the day of the week of a time.
double read_place_in_time(const Field& field, std::string_view text) noexcept {
  const auto timestamp = parse_time(text, field.unit);
  if (!timestamp) return unreadable_text(text);
  return field.reading == Reading::hour ? timestamp->hour : timestamp->day_of_week;
}

}  // namespace

double read_field(const Field& field, std::string_view text) noexcept {
  switch (field.reading) {
    case Reading::number:
      return parse_number(text).value_or(unreadable_text(text));
    case Reading::equals:
      // Any text has an answer here, also an empty one, so this reading never makes a record unusable.
      return text == field.equals ? 1 : 0;
    case Reading::label:
      return place_of(text, field.labels);
    case Reading::custom:
      return field.reader->read(text);
    case Reading::other:
      return std::find(field.labels.begin(), field.labels.end(), text) == field.labels.end() ? 1 : 0;
    case Reading::bucket:
      return bucket_of(text, field.buckets);
    case Reading::user:
      return read_user(field, text);
    case Reading::hour:
    case Reading::day_of_week:
      break;
  }
  return read_place_in_time(field, text);
}

std::uint32_t bucket_of(std::string_view text, std::uint32_t buckets) noexcept {
  // FNV-1a in 64 bits: its offset basis, and in the loop its prime.
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
  for (const char each : text) hash = (hash ^ static_cast<unsigned char>(each)) * 0x0000'0100'0000'01b3;
  // The low bits of FNV-1a depend on few bits of the text, so the bits are mixed once more, as at the end of
  // MurmurHash3.
  hash = (hash ^ (hash >> 33)) * 0xff51'afd7'ed55'8ccd;
  hash = (hash ^ (hash >> 33)) * 0xc4ce'b9fe'1a85'ec53;
  return static_cast<std::uint32_t>((hash ^ (hash >> 33)) % buckets);
}

}  // namespace nustream::record
