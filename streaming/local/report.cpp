// A report as a line of JSON, and the reader of such lines (docs/formats/local.md). The reader meets lines that
// anybody may have written. It takes one only if every member is there once and every number is one that the
// mechanism could have made.
#include "local/report.h"

#include <simdjson.h>

#include <algorithm>

#include "publish/json_writer.h"
#include "secrets/hex.h"

namespace nustream::local {
namespace {

constexpr std::uint64_t report_version = 1;
// A number takes a sign, 19 digits, a comma and a space. Names, digests, spacings and braces take the other bytes.
constexpr std::size_t number_bytes_max = 24;
constexpr std::size_t other_bytes_max = 1024;

std::string encoded(std::string_view text) {
  std::string out;
  publish::append_string(text, out);
  return out;
}

}  // namespace

ReportFormat::ReportFormat(const Settings& settings, const inference::LocalMechanism& mechanism)
    : stream_(settings.stream),
      mechanism_digest_(local::mechanism_digest(settings)),
      spacing_{mechanism.second_moment_spacing(), mechanism.cross_moment_spacing()},
      sizes_{mechanism.report_size() - mechanism.bounds().dimension, mechanism.bounds().dimension},
      limits_{mechanism.second_moment_limit(), mechanism.cross_moment_limit()},
      // No report is longer, so that a reader can drop longer lines unread.
      line_bytes_max_(mechanism.report_size() * number_bytes_max + 2 * encoded(settings.stream).size() +
                      other_bytes_max) {}

std::string ReportFormat::encode(const ReportId& id, std::span<const std::int64_t> numbers) const {
  return publish::object_text([&](publish::JsonWriter& json) {
    json.field("format", report_version);
    json.field("stream", stream_);
    json.field("mechanism", mechanism_digest_);
    json.field("id", secrets::to_hex(id));
    // The grid is part of the mechanism: a collector with another spacing would add different units.
    json.elements("spacing", spacing_);
    json.elements("xx", numbers.first(sizes_[0]));
    json.elements("xy", numbers.last(sizes_[1]));
  });
}

const char* name(Reject reject) noexcept {
  switch (reject) {
    case Reject::none:
      return "none";
    case Reject::too_long:
      return "too-long";
    case Reject::not_json:
      return "not-json";
    case Reject::members:
      return "members";
    case Reject::other_format:
      return "other-format";
    case Reject::other_stream:
      return "other-stream";
    case Reject::other_mechanism:
      return "other-mechanism";
    case Reject::size:
      return "size";
    case Reject::range:
      return "range";
  }
  __builtin_unreachable();
}

// The members of one line's object, each of which has to be there exactly once; the sender chooses their order.
class ReportReader::Document {
 public:
  explicit Document(std::size_t bytes_max) : parser_(bytes_max + simdjson::SIMDJSON_PADDING) {}

  // Sets the members below. The texts and arrays are valid until the next line is parsed.
  [[nodiscard]] Reject parse(std::string_view line) {
    constexpr std::array<std::string_view, 7> names{"format", "stream", "mechanism", "id", "spacing", "xx", "xy"};
    simdjson::dom::element document;
    simdjson::dom::object object;
    if (parser_.parse(line.data(), line.size()).get(document) != simdjson::SUCCESS) return Reject::not_json;
    if (document.get(object) != simdjson::SUCCESS) return Reject::not_json;
    std::array<simdjson::dom::element, names.size()> members;
    std::array<bool, names.size()> seen{};
    for (const auto member : object) {
      const auto at = static_cast<std::size_t>(std::ranges::find(names, member.key) - names.begin());
      if (at == names.size() || seen[at]) return Reject::members;
      members[at] = member.value;
      seen[at] = true;
    }
    if (!std::ranges::all_of(seen, [](bool there) { return there; })) return Reject::members;
    const bool typed = members[0].get(version) == simdjson::SUCCESS && members[1].get(stream) == simdjson::SUCCESS &&
                       members[2].get(mechanism) == simdjson::SUCCESS && members[3].get(id) == simdjson::SUCCESS &&
                       members[4].get(spacing) == simdjson::SUCCESS &&
                       members[5].get(parts[0]) == simdjson::SUCCESS && members[6].get(parts[1]) == simdjson::SUCCESS;
    return typed ? Reject::none : Reject::members;
  }

  std::uint64_t version = 0;
  std::string_view stream{};
  std::string_view mechanism{};
  std::string_view id{};
  simdjson::dom::array spacing{};
  std::array<simdjson::dom::array, 2> parts{};

 private:
  simdjson::dom::parser parser_;
};

ReportReader::ReportReader(const ReportFormat& format)
    : format_(format), document_(std::make_unique<Document>(format.line_bytes_max())) {
  numbers_.reserve(format.sizes_[0] + format.sizes_[1]);
}

ReportReader::~ReportReader() = default;

Reject ReportReader::read(std::string_view line) {
  numbers_.clear();
  if (line.size() > format_.line_bytes_max()) return Reject::too_long;
  const Reject reject = document_->parse(line);
  return reject != Reject::none ? reject : read_values();
}

Reject ReportReader::read_values() {
  if (document_->version != report_version) return Reject::other_format;
  if (document_->stream != format_.stream_) return Reject::other_stream;
  if (!is_of_this_mechanism()) return Reject::other_mechanism;
  if (!secrets::from_hex(document_->id, id_)) return Reject::members;
  const Reject first = read_numbers(0);
  return first != Reject::none ? first : read_numbers(1);
}

/// Digest and spacings alike: numbers are in units of the grid, and would otherwise be added in wrong units.
bool ReportReader::is_of_this_mechanism() const {
  if (document_->mechanism != format_.mechanism_digest_) return false;
  if (document_->spacing.size() != format_.spacing_.size()) return false;
  std::size_t at = 0;
  for (const simdjson::dom::element element : document_->spacing) {
    double spacing = 0;
    if (element.get(spacing) != simdjson::SUCCESS || spacing != format_.spacing_[at++]) return false;
  }
  return true;
}

Reject ReportReader::read_numbers(std::size_t part) {
  const std::size_t end = numbers_.size() + format_.sizes_[part];
  for (const simdjson::dom::element element : document_->parts[part]) {
    if (numbers_.size() == end) return Reject::size;
    std::int64_t number = 0;
    // A number that is not whole, or too large for 64 bits, is none that a mechanism makes.
    if (element.get(number) != simdjson::SUCCESS) return element.is_number() ? Reject::range : Reject::members;
    const std::int64_t limit = format_.limits_[part];
    // A single forged number of 2^62 would drown all honest reports. Within the limits a forged report moves the sums
    // no further than a genuine one can.
    if (number > limit || number < -limit) return Reject::range;
    numbers_.push_back(number);
  }
  return numbers_.size() == end ? Reject::none : Reject::size;
}

}  // namespace nustream::local
