// A number is judged by the year that it means in each unit. The units differ by a factor of 1,000, so that a number
// means a year of our time in one of them at most.
#include "check/times.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "error.h"
#include "nustream/record/number.h"
#include "nustream/record/timestamp.h"

namespace nustream::check {
namespace {

using record::TimeUnit;

struct Unit {
  TimeUnit unit;
  double per_second;
  const char* name;
  const char* in_words;
};
constexpr std::array units{Unit{TimeUnit::seconds, 1, "s", "seconds"},
                           Unit{TimeUnit::milliseconds, 1e3, "ms", "milliseconds"},
                           Unit{TimeUnit::microseconds, 1e6, "us", "microseconds"}};

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

/// The unit in which the number is a time from 1990 to 2100; null where it is none.
const Unit* plausible_unit(double number) {
  constexpr double year_1990 = 631'152'000, year_2100 = 4'102'444'800;  // in seconds
  const auto found = std::ranges::find_if(units, [&](const Unit& each) {
    return number / each.per_second >= year_1990 && number / each.per_second < year_2100;
  });
  return found == units.end() ? nullptr : &*found;
}

/// The form of a date that is written in digits alone, such as "YYYYMMDDHH"; null where the text is none. A fraction
/// of 0 counts for nothing, as programs write it behind whole numbers.
const char* form_of_digits(std::string_view text) {
  constexpr std::array<std::pair<std::size_t, const char*>, 4> forms{
      {{8, "YYYYMMDD"}, {10, "YYYYMMDDHH"}, {12, "YYYYMMDDHHMM"}, {14, "YYYYMMDDHHMMSS"}}};
  if (text.ends_with(".0")) text.remove_suffix(2);
  const auto form = std::ranges::find_if(forms, [&](const auto& each) { return each.first == text.size(); });
  if (form == forms.end() || text.find_first_not_of("0123456789") != std::string_view::npos) return nullptr;
  // Parts that are not there are 0, which is a time of day.
  const auto part = [&](std::size_t at, std::size_t width) {
    unsigned value = 0;
    if (at < text.size()) std::from_chars(text.data() + at, text.data() + at + width, value);
    return value;
  };
  const std::chrono::year_month_day date{std::chrono::year{static_cast<int>(part(0, 4))},
                                         std::chrono::month{part(4, 2)}, std::chrono::day{part(6, 2)}};
  const bool is_date = date.ok() && part(0, 4) >= 1900 && part(0, 4) <= 2100;
  return is_date && part(8, 2) < 24 && part(10, 2) < 60 && part(12, 2) < 60 ? form->second : nullptr;
}

/// What a number looks like that counts no seconds, with what to write instead; "" where it looks like nothing else.
std::string other_look(std::string_view text) {
  constexpr const char* cure = ", which no unit reads as such: write it as ISO 8601, such as 2024-02-19T01:00:00Z";
  text = without_blanks(text);
  if (const char* form = form_of_digits(text)) return fmt::format("a date written in digits ({}){}", form, cure);
  const auto number = record::parse_number(text);
  if (!number) return {};
  if (*number >= 1900 && *number <= 2100) return std::string("a year alone") + cure;
  // From 1954 to 2064, counted from 1899-12-30.
  if (*number >= 20'000 && *number <= 60'000) return std::string("the day number of a spreadsheet") + cure;
  return {};
}

/// A column of times, and the unit in which its plain numbers count.
struct TimeColumn {
  std::string name;
  TimeUnit unit;
  bool is_of_records;  ///< stream.time

  friend bool operator==(const TimeColumn&, const TimeColumn&) = default;
};

/// The columns of times in which plain numbers are read, each once: those of features, and the records' own.
std::vector<TimeColumn> time_columns(const config::InputSettings& input, const record::Schema& schema) {
  std::vector<TimeColumn> columns;
  const auto add = [&](const TimeColumn& column) {
    if (column.name.empty() || column.unit == TimeUnit::none) return;
    if (std::ranges::find(columns, column) == columns.end()) columns.push_back(column);
  };
  const auto add_term = [&](const record::Term& term) {
    const bool is_time =
        term.transform == record::Transform::hour || term.transform == record::Transform::day_of_week;
    if (is_time) add({term.column, term.unit, false});
  };
  for (const record::Feature& feature : schema.features) {
    add_term(feature.first);
    if (feature.second) add_term(*feature.second);
  }
  add({input.time_column, input.time_unit, true});
  return columns;
}

/// The texts of a column that may be times: written ones, and numbers except 0, which often stands for none.
std::vector<std::string> times_in(const std::string& column, const config::InputSettings& input,
                                  std::span<const decode::SeenLine> records) {
  std::vector<std::string> texts;
  for (const decode::SeenLine& record : records) {
    std::optional<std::string> text = decode::text_in(record, column, input);
    if (!text) continue;
    const auto number = record::parse_number(*text);
    if (number ? *number != 0 : record::parse_timestamp(*text).has_value()) texts.push_back(std::move(*text));
  }
  return texts;
}

/// What all of the texts look like, if they are dates in digits of one form; else "". Small numbers are not judged:
/// as seconds since midnight they are as likely as years or day numbers.
std::string common_look(const std::vector<std::string>& texts) {
  const char* const form = texts.empty() ? nullptr : form_of_digits(without_blanks(texts.front()));
  const bool is_common = form != nullptr && std::ranges::all_of(texts, [&](const std::string& text) {
                           return form_of_digits(without_blanks(text)) == form;
                         });
  return is_common ? other_look(texts.front()) : std::string();
}

/// The sentence about one column; "" where there is nothing to say.
std::string odd_times_of(const TimeColumn& column, const std::vector<std::string>& texts) {
  const std::string first = fmt::format("the first {} times of column '{}'", texts.size(), column.name);
  if (const std::string look = common_look(texts); !look.empty()) {
    return fmt::format("each of {} looks like {}", first, look);
  }
  for (const Unit& each : units) {
    if (each.unit == column.unit) continue;
    const auto count = static_cast<std::size_t>(std::ranges::count_if(texts, [&](const std::string& text) {
      const auto number = record::parse_number(text);
      return number && plausible_unit(*number) == &each;
    }));
    if (2 * count <= texts.size()) continue;
    // A coarser unit makes the same number a later time, which is none that can be read.
    const bool is_late = column.unit < each.unit;
    return fmt::format("{}{} lie {}, but between 1990 and 2100 if they count {}: set {} = \"{}\"",
                       count == texts.size() ? "" : fmt::format("{} of ", count), first,
                       is_late ? "beyond the year 9999" : "in 1970", each.in_words,
                       column.is_of_records ? "stream.time_unit" : "unit", each.name);
  }
  return {};
}

/// The first records of files, which are read once more for them. Throws Failure where the input went away.
std::vector<decode::SeenLine> first_records_of(const config::InputSettings& input) {
  std::vector<std::uint64_t> ordinals(decode::first_records_max);
  std::iota(ordinals.begin(), ordinals.end(), std::uint64_t{0});
  std::vector<decode::SeenLine> records;
  for (auto& [ordinal, line] : decode::seen_lines(input, ordinals)) records.push_back(line);
  return records;
}

/// The sentence about records whose own times cannot be read; "" where most of them can.
std::string unread_times(const config::InputSettings& input, std::span<const decode::SeenLine> records) {
  const auto count = static_cast<std::size_t>(std::ranges::count_if(records, [&](const decode::SeenLine& record) {
    const std::optional<std::string> text = decode::text_in(record, input.time_column, input);
    return !text || !record::parse_time(*text, input.time_unit);
  }));
  if (2 * count <= records.size()) return {};
  return fmt::format(
      "{}the first {} times of column '{}' cannot be read: write them as ISO 8601, such as 2024-02-19T01:00:00Z, or "
      "as numbers with stream.time_unit",
      count == records.size() ? "" : fmt::format("{} of ", count), records.size(), input.time_column);
}

}  // namespace

std::string advice_on_time(std::string_view text, record::TimeUnit unit) {
  if (const std::string look = other_look(text); !look.empty()) return "; it looks like " + look;
  const auto number = record::parse_number(text);
  const Unit* const meant = number ? plausible_unit(*number) : nullptr;
  return meant != nullptr && meant->unit != unit ? std::string("; set unit = \"") + meant->name + "\""
                                                 : std::string();
}

std::string odd_times(const config::InputSettings& input, const record::Schema& schema,
                      std::span<const decode::SeenLine> records) {
  std::string found;
  for (const TimeColumn& column : time_columns(input, schema)) {
    const std::string odd = odd_times_of(column, times_in(column.name, input, records));
    if (!odd.empty()) found += (found.empty() ? "" : "; ") + odd;
  }
  return found;
}

std::string odd_times(const config::InputSettings& input, const record::Schema& schema) try {
  if (time_columns(input, schema).empty()) return {};
  return odd_times(input, schema, first_records_of(input));
} catch (const Failure&) {
  return {};  // the input cannot be read twice, or went away: a run tells that by itself
}

std::string why_no_time_matches(const config::InputSettings& input) try {
  if (input.time_column.empty()) return {};
  const std::vector<decode::SeenLine> records = first_records_of(input);
  std::string odd = odd_times(input, {}, records);
  return odd.empty() ? unread_times(input, records) : odd;
} catch (const Failure&) {
  return {};  // as above
}

}  // namespace nustream::check
