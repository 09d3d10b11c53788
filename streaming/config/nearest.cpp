// Two notions of nearness: an edit distance for names that were misspelt, and a folding for names that only look the
// same. Both serve hints in messages and decide nothing else.
#include "config/nearest.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace nustream::config {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // This is the distance of Levenshtein with a swap of neighbours as a fourth edit.
  // Optimal string alignment, which needs three rows of the usual table.
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, substitution});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

std::string did_you_mean(std::string_view name, std::span<const std::string> known) {
  const std::string* best = nullptr;
  // A name may differ by half of its letters, but by two at least, so that a short one has a hint too.
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 2) + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = &candidate;
    }
  }
  return best == nullptr ? "" : " (did you mean '" + *best + "'?)";
}

namespace {

struct Character {
  char32_t code;
  std::size_t bytes;
};

/// The character that `text`, which is not empty, begins with. Bytes that are not UTF-8 stand for themselves.
Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto goes_on = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xc0U) == 0x80U; };
  const unsigned lead = byte(0);
  if ((lead & 0xe0U) == 0xc0U && goes_on(1)) return {(lead & 0x1fU) << 6U | (byte(1) & 0x3fU), 2};
  if ((lead & 0xf0U) == 0xe0U && goes_on(1) && goes_on(2)) {
    return {(lead & 0x0fU) << 12U | (byte(1) & 0x3fU) << 6U | (byte(2) & 0x3fU), 3};
  }
  // The replacement character of Unicode, which none of the classes below holds. Its one byte is
  // then copied as it is.
  constexpr char32_t none = 0xfffd;
  return {lead < 0x80U ? char32_t{lead} : none, 1};
}

bool is_space(char32_t code) {
  constexpr char32_t no_break = 0xa0, narrow_no_break = 0x202f, ideographic = 0x3000;
  return code == U' ' || code == U'\t' || code == no_break || code == narrow_no_break || code == ideographic ||
         (code >= 0x2000 && code <= 0x200a);
}

// Zero-width space and joiners, word joiner, byte order mark and soft hyphen.
bool is_without_width(char32_t code) {
  return (code >= 0x200b && code <= 0x200d) || code == 0x2060 || code == 0xfeff || code == 0xad;
}

// Combining marks, which follow their letter in the form NFD.
bool is_mark(char32_t code) {
  return code >= 0x300 && code <= 0x36f;
}

/// Whether the code is a Latin letter that includes its accent.
bool is_accented(char32_t code) {
  return code >= 0xc0 && code <= 0x24f && code != 0xd7 && code != 0xf7;
}

// Stands for any letter with an accent. No printed name has this control character.
constexpr char accented = '\x01';

template <class Take>
void for_each_character(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const Character character = first_of(text);
    take(character.code, text.substr(0, character.bytes));
    text.remove_prefix(character.bytes);
  }
}

std::string in_small_letters(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

}  // namespace

std::string folded(std::string_view name) {
  std::string out;
  for_each_character(name, [&](char32_t code, std::string_view bytes) {
    if (is_without_width(code)) return;
    if (is_space(code)) {
      out += ' ';
    } else if (is_mark(code)) {
      // A letter and its mark, as NFD has them, become what one accented letter of NFC becomes.
      if (!out.empty()) out.back() = accented;
    } else if (is_accented(code)) {
      out += accented;
    } else {
      out += bytes;
    }
  });
  // Blanks around a name are not seen either.
  const std::size_t begin = out.find_first_not_of(' ');
  if (begin == std::string::npos) return {};
  return in_small_letters(out.substr(begin, out.find_last_not_of(' ') + 1 - begin));
}

std::string difference_unseen(std::string_view name, std::string_view other) {
  if (name == other || folded(name) != folded(other)) return {};
  if (in_small_letters(std::string(name)) == in_small_letters(std::string(other))) return "in its capital letters";
  bool spaced = false;
  bool marked = false;
  // Either of the names may have the character that is not seen.
  for (const std::string_view text : {name, other}) {
    for_each_character(text, [&](char32_t code, std::string_view) {
      spaced |= is_without_width(code) || (is_space(code) && code != U' ');
      marked |= is_mark(code);
    });
  }
  if (marked) return "in how its accents are written (Unicode NFC or NFD)";
  return spaced ? "in a no-break space or a character without width" : "in its spaces or accents";
}

}  // namespace nustream::config
