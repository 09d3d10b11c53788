// Guesses what a column of texts may be, from its first thousand records, and names the option or the map that would
// read it. Whatever is said here goes to the operator alone.
#include "fit/texts.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include "config/nearest.h"
#include "config/unicode.h"
#include "decode/reader.h"
#include "decode/segment_rows.h"
#include "fit/input.h"
#include "nustream/record/number.h"
#include "nustream/record/timestamp.h"

namespace nustream::fit {
namespace {

constexpr std::uint64_t first_records = 1000;

/// A reader that counts every text, and beside that those that are no numbers under the decimal sign of the file.
class TwoCounts final : public record::TextReader {
 public:
  TwoCounts(Texts& texts, char decimal) : texts_(texts), decimal_(decimal) {}
  double read(std::string_view text) noexcept override {
    std::string number(text);
    std::ranges::replace(number, decimal_, '.');
    if (!record::parse_number(number)) texts_.unread.read(text);
    return texts_.all.read(text);
  }

 private:
  Texts& texts_;
  char decimal_;
};

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

bool are_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

/// Whether the text has `mark` between thousands, such as 27,000 or 1,234,567, and then may have `decimal`.
bool has_thousands(std::string_view text, char mark, char decimal) {
  const std::size_t first = text.find(mark);
  if (first == std::string_view::npos || first > 3 || !are_digits(text.substr(0, first))) return false;
  for (text.remove_prefix(first); text.starts_with(mark); text.remove_prefix(4)) {
    if (!are_digits(text.substr(1, 3)) || text.size() < 4) return false;
  }
  return text.empty() || text.front() == decimal;
}

bool has_decimal_comma(std::string_view text) {
  const std::size_t comma = text.find(',');
  return comma != std::string_view::npos && are_digits(text.substr(0, comma)) && are_digits(text.substr(comma + 1));
}

bool names_month(std::string_view text) {
  constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return std::ranges::any_of(months, [&](const char* month) { return text.find(month) != std::string_view::npos; });
}

/// Whether the text has three digits or more, and a divider or the name of a month.
bool looks_like_date(std::string_view text) {
  const bool is_divided = text.find_first_of("/-:") != std::string_view::npos;
  return std::ranges::count_if(text, is_digit) >= 3 && (is_divided || names_month(text));
}

enum class Likeness { decimal_comma, thousands, dots, percent, currency, time, date, empty, unknown };

/// What a text that is no number looks like. The tests go from narrow forms to wide ones.
Likeness likeness_of(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return Likeness::empty;
  // Thousands come first: 27,000 has the form of a decimal comma, too.
  if (has_thousands(text, ',', '.')) return Likeness::thousands;
  if (has_thousands(text, '.', ',')) return Likeness::dots;
  if (has_decimal_comma(text)) return Likeness::decimal_comma;
  if (text.ends_with('%')) return Likeness::percent;
  if (text.front() == '$' || text.starts_with("€") || text.starts_with("£")) return Likeness::currency;
  if (record::parse_timestamp(text)) return Likeness::time;
  return looks_like_date(text) ? Likeness::date : Likeness::unknown;
}

std::string cure(Likeness likeness, const config::InputSettings& input, const std::string& column) {
  switch (likeness) {
    case Likeness::decimal_comma:
      return std::string("; most look like numbers with decimal commas: ") +
             (has_columns(input) ? "add --decimal ," : "write them with dots");
    case Likeness::thousands:
      return "; most have commas between thousands (1,003.50): write them without" +
             std::string(has_columns(input) ? ", or, where these are decimal commas, add --decimal ," : "");
    case Likeness::dots:
      return "; most have dots between thousands (1.003,50): write them without" +
             std::string(has_columns(input) && input.decimal == '.' ? ", and add --decimal , for the commas" : "");
    case Likeness::percent:
      return "; most are percentages: write them without the sign";
    case Likeness::currency:
      return "; most have the sign of a currency: write them without it";
    case Likeness::time:
      return fmt::format("; most are times: --features takes day_of_week({0}), and where they have hours hour({0})",
                         column);
    case Likeness::date:
      return fmt::format(
          "; most look like times: write them as ISO 8601 has them, such as 2010-01-31T15:00, and take hour({0}) or "
          "day_of_week({0})",
          column);
    case Likeness::empty:
      return "; most are empty";
    case Likeness::unknown:
      break;
  }
  return {};
}

/// A step of a JSON pointer (RFC 6901): ~ and / within a name are written ~0 and ~1.
std::string in_pointer(std::string_view key) {
  std::string out = "/";
  for (const char c : key) out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return out;
}

/// Adds the names of an object's members in the form in which columns are named: plain at the top level, and with
/// slashes for members of objects inside.
void append_members(const simdjson::dom::object& object, const std::string& before, std::vector<std::string>& names) {
  constexpr std::ptrdiff_t depth_max = 4;
  for (const auto& [key, value] : object) {
    simdjson::dom::object inside;
    const std::string path = before + in_pointer(key);
    if (value.get(inside) == simdjson::SUCCESS && std::ranges::count(path, '/') < depth_max) {
      append_members(inside, path, names);
    } else {
      names.push_back(before.empty() ? std::string(key) : path);
    }
  }
}

/// The member as it is after a change, where `path` is one before it and the record has both. Envelopes of changes
/// hold a row twice, and null for the row that is not there. The row before is hardly ever what is meant.
std::string in_row_after(const simdjson::dom::object& record, std::string path) {
  for (const std::string_view envelope : {"", "/payload"}) {
    const std::string before = std::string(envelope) + "/before/";
    const std::string after = std::string(envelope) + "/after";
    if (path.starts_with(before) && record.at_pointer(after).error() == simdjson::SUCCESS) {
      path.replace(0, before.size() - 1, after);
    }
  }
  return path;
}

}  // namespace

Texts texts_of(const config::InputSettings& input, const std::string& column) {
  Texts texts;
  TwoCounts reader(texts, input.decimal);
  record::Feature feature;
  feature.name = feature.first.column = column;
  feature.first.transform = record::Transform::custom;
  feature.first.reader = &reader;
  record::Schema schema;
  schema.features = {feature};
  config::InputSettings first = input;
  // A segment's records have offsets, which need not begin at 0.
  if (!decode::is_segment(input.files.front())) first.to = first_records;
  const auto records = decode::open_reader(first, schema);
  record::RowBatch rows;
  rows.dimension = 1;
  while (records->read(rows, first_records)) rows.clear();
  return texts;
}

std::string cure_of(const check::LabelTexts& texts, const config::InputSettings& input, const std::string& column) {
  std::array<std::uint64_t, 9> counts{};
  std::uint64_t all = 0;
  for (const auto& [text, count] : texts.counts()) {
    counts.at(static_cast<std::size_t>(likeness_of(text))) += count.records;
    all += count.records;
  }
  // 27,000 counts as a decimal comma where other texts of the column have a decimal comma, and so does 1.003,50,
  // which has one, too.
  const auto commas = static_cast<std::size_t>(Likeness::decimal_comma);
  for (const Likeness other : {Likeness::thousands, Likeness::dots}) {
    if (counts.at(commas) > 0) counts.at(commas) += std::exchange(counts.at(static_cast<std::size_t>(other)), 0);
  }
  const auto most = std::ranges::max_element(counts);
  if (all == 0 || 2 * *most <= all) return {};
  return cure(static_cast<Likeness>(most - counts.begin()), input, column);
}

std::string labels_in(const check::LabelTexts& texts, std::string* last) {
  constexpr std::size_t labels_max = 8;
  std::uint64_t all = texts.others();
  for (const auto& [text, count] : texts.counts()) all += count.records;
  if (texts.others() > 0 || texts.counts().size() > labels_max) return {};
  std::string labels;
  for (const auto& [text, count] : texts.counts()) {
    if (20 * count.records < all) continue;
    labels += fmt::format("{}'{}'", labels.empty() ? "" : ", ", config::with_bytes_escaped(text));
    if (last != nullptr) *last = text;
  }
  return labels;
}

std::string members_near(const config::InputSettings& input, const std::string& column) {
  constexpr std::size_t names_max = 30;
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  const std::string line = first_line(input);
  if (parser.parse(line).get(object) != simdjson::SUCCESS) return {};
  std::vector<std::string> names;
  append_members(object, "", names);
  const bool is_pointer = column.starts_with('/');
  if (std::ranges::find(names, column) != names.end()) return {};
  // For a member of an inner object, people often type its last name alone, or dots.
  std::string meant;
  std::string with_slashes = (is_pointer ? "" : "/") + column;
  std::ranges::replace(with_slashes, '.', '/');
  for (const std::string& name : names) {
    if (name == with_slashes || (!is_pointer && name.ends_with("/" + column))) {
      meant = fmt::format(" (did you mean '{}'?)", in_row_after(object, name));
    }
  }
  if (meant.empty()) meant = config::did_you_mean_one_of(config::closest(column, names));
  const bool is_cut = names.size() > names_max;
  if (is_cut) names.resize(names_max);
  return fmt::format("{}; the first record has '{}'{}", meant, fmt::join(names, "', '"), is_cut ? " and more" : "");
}

}  // namespace nustream::fit
