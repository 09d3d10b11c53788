// Two notions of nearness: an edit distance for names that were misspelt, and a folding for names that only look the
// same. Both serve hints in messages and decide nothing else.
#include "config/nearest.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>

#include "config/unicode.h"

namespace nustream::config {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::u32string from = characters(a);
  const std::u32string to = characters(b);
  // This is the distance of Levenshtein with a swap of neighbours as a fourth edit.
  // Optimal string alignment, which needs three rows of the usual table.
  std::vector<std::size_t> before(to.size() + 1), previous(to.size() + 1), current(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t substitution = previous[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, substitution});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[to.size()];
}

namespace {

/// The names with the least distance, if that is at most `edits_max`.
std::vector<std::string> within(std::size_t edits_max, std::string_view name, std::span<const std::string> known) {
  std::vector<std::string> best;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance > edits_max) continue;
    // From here on, only names as near as this one are looked for.
    if (distance < edits_max) best.clear();
    edits_max = distance;
    best.push_back(candidate);
  }
  return best;
}

}  // namespace

std::string did_you_mean(std::string_view name, std::span<const std::string> known) {
  const std::vector<std::string> best = within(std::max<std::size_t>(2, name.size() / 2), name, known);
  return best.empty() ? "" : " (did you mean '" + best.front() + "'?)";
}

std::vector<std::string> closest(std::string_view name, std::span<const std::string> known) {
  const std::size_t letters = characters(name).size();
  const std::size_t edits_max = letters < 3 ? 0 : std::max<std::size_t>(letters / 3, 1);
  return within(edits_max, name, known);
}

std::string did_you_mean_one_of(std::span<const std::string> names) {
  constexpr std::size_t named_max = 3;
  const std::size_t count = std::min(names.size(), named_max);
  std::string list;
  for (std::size_t i = 0; i < count; ++i) {
    list += (i == 0 ? "'" : i + 1 == count ? " or '" : ", '") + names[i] + "'";
  }
  return list.empty() ? list : " (did you mean " + list + "?)";
}

namespace {

/// What a comparison of two names leaves out of account.
struct Blindness {
  bool composition = true;  ///< whether a letter and its mark are one character or two
  bool capitals = true;
  bool spaces = true;  ///< kinds of spaces, spaces around the name, and characters without width
};

bool is_space(char32_t code) {
  return code == U'\t' || utf8proc_category(static_cast<utf8proc_int32_t>(code)) == UTF8PROC_CATEGORY_ZS;
}

/// Zero-width space and joiners, byte order mark, soft hyphen, marks of direction and the like.
bool is_without_width(char32_t code) {
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(code))->ignorable != 0;
}

std::string with_plain_spaces(std::u32string_view text) {
  std::string plain;
  for (const char32_t code : text) {
    if (is_without_width(code)) continue;
    utf8proc_uint8_t bytes[4];
    const auto count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(is_space(code) ? U' ' : code), bytes);
    plain.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
  }
  const std::size_t begin = std::min(plain.find_first_not_of(' '), plain.size());
  return plain.substr(begin, plain.find_last_not_of(' ') + 1 - begin);
}

/// The text, which is UTF-8, after the library's mapping.
std::string mapped(const std::string& text, int options) {
  utf8proc_uint8_t* bytes = nullptr;
  const auto* const from = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const utf8proc_ssize_t count = utf8proc_map(from, static_cast<utf8proc_ssize_t>(text.size()), &bytes,
                                              static_cast<utf8proc_option_t>(options | UTF8PROC_STABLE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(bytes, &std::free);
  // Without memory the text stays as it is, and a hint is lost.
  return count < 0 ? text : std::string(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
}

std::string folded(std::string_view name, const Blindness& blindness) {
  if (!is_utf8(name)) return std::string(name);
  const std::string text = blindness.spaces ? with_plain_spaces(characters(name)) : std::string(name);
  const int options = (blindness.composition ? UTF8PROC_COMPOSE : 0) | (blindness.capitals ? UTF8PROC_CASEFOLD : 0);
  return options == 0 ? text : mapped(text, options);
}

/// In what two names differ that are the same but for their capitals. Case folding also joins letters that are no
/// capitals of each other, such as the two small sigmas, or the micro sign and the letter mu.
const char* difference_of_capitals(const std::string& name, const std::string& other) {
  const auto in_small_letters = [](const std::string& text) {
    std::u32string small = characters(text);
    for (char32_t& code : small) code = static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code)));
    return small;
  };
  return in_small_letters(name) == in_small_letters(other) ? "in its capital letters" : "in the form of its letters";
}

/// In what two names differ that are the same but for their spaces.
const char* difference_of_spaces(std::string_view name, std::string_view other) {
  const auto is_unusual = [](char32_t code) {
    return is_without_width(code) || (is_space(code) && code != U' ' && code != U'\t');
  };
  const std::u32string both = characters(name) + characters(other);
  return std::any_of(both.begin(), both.end(), is_unusual) ? "in a no-break space or a character without width"
                                                           : "in its spaces";
}

}  // namespace

std::string folded(std::string_view name) {
  return folded(name, Blindness{});
}

std::string difference_unseen(std::string_view name, std::string_view other) {
  if (name == other || folded(name) != folded(other)) return {};
  // A name may differ in several ways. It differs in one where the names are not the same without that blindness.
  std::string differences;
  const auto look = [&](const Blindness& others, const char* difference) {
    if (folded(name, others) == folded(other, others)) return;
    differences += (differences.empty() ? "" : " and ") + std::string(difference);
  };
  const Blindness but_capitals{.capitals = false};
  look(but_capitals, difference_of_capitals(folded(name, but_capitals), folded(other, but_capitals)));
  look({.spaces = false}, difference_of_spaces(name, other));
  look({.composition = false}, "in how its letters are composed (Unicode NFC or NFD)");
  // A sign such as that of kelvin is the same as its letter by either folding.
  return differences.empty() ? "in the form of its letters" : differences;
}

std::string did_you_mean_unseen(std::string_view name, std::string_view other) {
  const std::string difference = difference_unseen(name, other);
  if (difference.empty()) return {};
  return fmt::format(" (did you mean '{}'? it differs {}: copy it from there)", other, difference);
}

}  // namespace nustream::config
