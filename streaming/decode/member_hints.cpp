#include "decode/member_hints.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>

#include "config/nearest.h"

namespace nustream::decode {
namespace {

constexpr std::array<std::string_view, 2> debezium_bases{"", "/payload"};

// The name after the last slash. It is unescaped only as far as hints need it.
std::string_view name_behind_slash(std::string_view pointer) {
  return pointer.substr(pointer.rfind('/') + 1);
}

std::ptrdiff_t depth_of(const std::string& pointer) {
  return std::count(pointer.begin(), pointer.end(), '/');
}

/// How many names at the ends of two pointers are the same, or look the same.
std::size_t alike_at_end(std::string_view one, std::string_view other) {
  std::size_t count = 0;
  while (!one.empty() && !other.empty()) {
    const std::string_view name = name_behind_slash(one);
    const std::string_view its = name_behind_slash(other);
    if (name != its && config::difference_unseen(name, its).empty()) break;
    one.remove_suffix(name.size() + 1);
    other.remove_suffix(its.size() + 1);
    ++count;
  }
  return count;
}

/// The pointer to the same member of the row after a change, where `pointer` is one of the row before it; else "".
std::string after_the_change(const std::string& pointer) {
  for (const std::string_view base : debezium_bases) {
    const std::string before = std::string(base) + "/before/";
    if (pointer.starts_with(before)) return std::string(base) + "/after/" + pointer.substr(before.size());
  }
  return {};
}

}  // namespace

bool holds_stand_in(const std::string& pointer) {
  return pointer.find("\xef\xbf\xbd") != std::string::npos;
}

std::string pointer_to(std::string_view name) {
  std::string pointer = "/";
  for (const char c : name) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
  return pointer;
}

std::string as_pointer(const std::string& column) {
  return column.starts_with('/') ? column : pointer_to(column);
}

std::string named(const std::string& pointer, config::Envelope envelope) {
  const auto is_plain = [&](std::size_t begin) { return pointer.find_first_of("/~", begin) == std::string::npos; };
  if (envelope == config::Envelope::none) return is_plain(1) ? pointer.substr(1) : pointer;
  for (const std::string_view row : {"/payload/after/", "/after/"}) {
    if (pointer.starts_with(row) && is_plain(row.size())) return pointer.substr(row.size());
  }
  return pointer;
}

MemberHints::MemberHints(const std::set<std::string>& pointers, config::Envelope envelope,
                         std::vector<std::string> taken)
    : pointers_(pointers), envelope_(envelope), taken_(std::move(taken)) {
  std::copy_if(pointers.begin(), pointers.end(), std::back_inserter(candidates_),
               [this](const std::string& pointer) { return is_candidate(pointer); });
  std::stable_sort(candidates_.begin(), candidates_.end(),
                   [](const std::string& a, const std::string& b) { return depth_of(a) < depth_of(b); });
}

std::string MemberHints::in_settings(const std::string& pointer) const {
  return named(pointer, envelope_);
}

/// The member in the form in which the column names its own: as a pointer where the column is one.
std::string MemberHints::as_asked(const std::string& column, const std::string& pointer) const {
  return column.starts_with('/') ? pointer : in_settings(pointer);
}

bool MemberHints::is_container(const std::string& pointer) const {
  const auto inside = pointers_.lower_bound(pointer + "/");
  return inside != pointers_.end() && inside->starts_with(pointer + "/");
}

bool MemberHints::is_candidate(const std::string& pointer) const {
  const auto is_it = [&](const std::string& column) { return column == pointer || column == in_settings(pointer); };
  // Nobody can type a name whose bytes are no characters.
  const bool is_typed = !is_container(pointer) && !holds_stand_in(pointer);
  if (!is_typed || std::any_of(taken_.begin(), taken_.end(), is_it)) return false;
  // Envelopes of changes hold a row twice. The row before the change is hardly ever what is meant.
  return !pointers_.contains(after_the_change(pointer));
}

bool MemberHints::is_in_row(const std::string& column) const {
  if (envelope_ != config::Envelope::none || column.starts_with('/')) return false;
  return std::any_of(debezium_bases.begin(), debezium_bases.end(), [&](std::string_view base) {
    const std::string envelope(base);
    return pointers_.contains(envelope + "/op") && pointers_.contains(envelope + "/after" + pointer_to(column));
  });
}

/// A member whose whole name differs from the column in what the eye does not see.
std::string MemberHints::differing_unseen(const std::string& column) const {
  for (const std::string& pointer : candidates_) {
    std::string meant = config::did_you_mean_unseen(column, as_asked(column, pointer));
    if (!meant.empty()) return meant;
  }
  return {};
}

/// The members whose last name is that of the column, or looks like it.
std::vector<std::string> MemberHints::where_last_name(const std::string& column, bool is_exact) const {
  const std::string wanted = as_pointer(column);
  const std::string_view last = name_behind_slash(wanted);
  std::vector<std::string> found;
  for (const std::string& pointer : candidates_) {
    const std::string_view name = name_behind_slash(pointer);
    if (name == last || (!is_exact && !config::difference_unseen(last, name).empty()))
      found.push_back(in_settings(pointer));
  }
  // Of a pointer more is known than its last name: where its end is the same, only its beginning is misspelt.
  if (column.starts_with('/')) {
    std::stable_sort(found.begin(), found.end(), [&](const std::string& a, const std::string& b) {
      return alike_at_end(wanted, as_pointer(a)) > alike_at_end(wanted, as_pointer(b));
    });
  }
  return found;
}

/// Members of the column's name at other places.
std::string MemberHints::of_the_same_name(const std::string& column) const {
  std::vector<std::string> found = where_last_name(column, true);
  if (is_in_row(column)) {
    std::erase_if(found, [&](const std::string& name) { return !name.ends_with("/after" + pointer_to(column)); });
  }
  if (found.empty() || column.starts_with('/')) return config::did_you_mean_one_of(found);
  const bool is_one = found.size() == 1;
  constexpr std::size_t named_max = 3;
  std::string list;
  for (std::size_t i = 0; i < std::min(found.size(), named_max); ++i) {
    list += (i == 0 ? "'" : " or '") + found[i] + "'";
  }
  return std::string(" (it is inside ") + (is_one ? "another member" : "other members") +
         ": write the JSON pointer " + list + ")";
}

/// The members that are nearest by edits: by their whole names, or for a plain name by their last ones.
std::vector<std::string> MemberHints::by_edits(const std::string& column) const {
  std::vector<std::string> names;
  names.reserve(candidates_.size());
  for (const std::string& pointer : candidates_) names.push_back(as_asked(column, pointer));
  std::vector<std::string> found = config::closest(column, names);
  if (!found.empty() || column.starts_with('/')) return found;
  names.clear();
  for (const std::string& pointer : candidates_) names.emplace_back(name_behind_slash(pointer));
  const std::vector<std::string> last = config::closest(column, names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::find(last.begin(), last.end(), names[i]) != last.end()) found.push_back(in_settings(candidates_[i]));
  }
  return found;
}

std::string MemberHints::on_column(const std::string& column) const {
  const bool is_pointer = column.starts_with('/');
  if (std::string unseen = is_pointer ? differing_unseen(column) : std::string(); !unseen.empty()) return unseen;
  // Other programs divide a way by dots.
  std::string with_slashes = "/" + column;
  std::replace(with_slashes.begin(), with_slashes.end(), '.', '/');
  if (!is_pointer && column.find('.') != std::string::npos && pointers_.contains(with_slashes))
    return " (did you mean '" + with_slashes + "'?)";
  if (std::string same = of_the_same_name(column); !same.empty()) return same;
  if (std::string unseen = differing_unseen(column); !unseen.empty()) return unseen;
  const std::vector<std::string> alike = where_last_name(column, false);
  return config::did_you_mean_one_of(alike.empty() ? by_edits(column) : alike);
}

}  // namespace nustream::decode
