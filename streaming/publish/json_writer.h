// Writes JSON into a text: commas, quotation marks and braces are this header's business alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "nustream/base/error.h"
#include "publish/json_text.h"

namespace nustream::publish {

/// The name of a member. The compiler checks that a literal needs no escapes; any other text is escaped as it is
/// written.
class MemberName {
 public:
  consteval MemberName(const char* literal)
      : text_(literal), is_plain_(true) {  // NOLINT(google-explicit-constructor)
    for (const char c : text_) {
      if (needs_escape(c)) throw "a literal that is a name needs no escapes";
    }
  }
  MemberName(std::string_view text) noexcept : text_(text) {}    // NOLINT(google-explicit-constructor)
  MemberName(const std::string& text) noexcept : text_(text) {}  // NOLINT(google-explicit-constructor)

  /// Appends "NAME":
  void append(std::string& out) const {
    if (is_plain_) {
      out += '"';
      out += text_;
      out += "\":";
    } else {
      append_string(text_, out);
      out += ':';
    }
  }

 private:
  std::string_view text_;
  bool is_plain_ = false;
};

/// Appends JSON to a text that outlives it, and takes no memory of its own. It writes one value, or lines of one
/// value each, or members without braces, which another writer takes in with raw_members(). An object or array ends
/// with the C++ scope of what object() or array() returned, so none is left open or closed twice:
///
///   const auto groups = json.array("groups");
///   for (const Group& group : all) {
///     const auto object = json.object();
///     json.field("records", group.records);
///   }
///
/// Contract: members of an object have names, and elements of an array have none. Not thread-safe.
class JsonWriter {
  enum class Within : std::uint8_t { text, object, array };

 public:
  /// An object or array that is being written.
  class [[nodiscard]] Scope {
   public:
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { json_.close(around_); }

   private:
    friend class JsonWriter;
    Scope(JsonWriter& json, Within around) noexcept : json_(json), around_(around) {}

    JsonWriter& json_;
    Within around_;
  };

  explicit JsonWriter(std::string& out) noexcept : out_(out) {}
  /// Goes on with `members` that a writer wrote outside of any object; they may be none.
  [[nodiscard]] static JsonWriter behind(std::string& members) noexcept { return {members, members.empty()}; }
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;

  [[nodiscard]] Scope object() { return place(), open(Within::object); }
  [[nodiscard]] Scope object(MemberName name) { return place(name), open(Within::object); }
  [[nodiscard]] Scope array() { return place(), open(Within::array); }
  [[nodiscard]] Scope array(MemberName name) { return place(name), open(Within::array); }

  /// Goes on with the object that the text ends with, whose closing brace is not there. Contract: nothing is open.
  [[nodiscard]] Scope rest_of_object() {
    NUSTREAM_REQUIRE(within_ == Within::text && !out_.empty(), "only an object that was begun goes on");
    is_first_ = out_.back() == '{';
    const Within around = std::exchange(within_, Within::object);
    return {*this, around};
  }

  /// Writes a number, a text, a bool, nullptr, or an optional of these. Infinities, NaN and what an optional lacks
  /// are null.
  template <class Value>
  void field(MemberName name, const Value& value) {
    place(name);
    put(value);
  }
  template <class Value>
  void element(const Value& value) {
    place();
    put(value);
  }

  /// An object of the pairs of name and value in `values`.
  template <class Pairs>
  void fields(MemberName name, const Pairs& values) {
    const auto scope = object(name);
    for (const auto& [each, value] : values) field(std::string_view(each), value);
  }
  /// The same, or null where there are no values.
  template <class Pairs>
  void fields_or_null(MemberName name, const Pairs& values) {
    values.empty() ? field(name, nullptr) : fields(name, values);
  }
  /// An array of `values`.
  template <class Values>
  void elements(MemberName name, const Values& values) {
    const auto scope = array(name);
    for (const auto& value : values) element(value);
  }

  /// These take texts that are JSON already.
  void raw(MemberName name, std::string_view value) {
    place(name);
    out_ += value;
  }
  void raw(std::string_view value) {
    place();
    out_ += value;
  }
  /// `members` are what a writer wrote outside of any object; they may be none.
  void raw_members(std::string_view members) {
    NUSTREAM_REQUIRE(within_ != Within::array, "members are within objects");
    if (members.empty()) return;
    separate();
    out_ += members;
  }

  /// Ends a line that holds one value. Contract: nothing is open.
  void end_line() {
    NUSTREAM_REQUIRE(within_ == Within::text, "a line ends behind its value");
    out_ += '\n';
    is_first_ = true;
  }

 private:
  JsonWriter(std::string& out, bool is_first) noexcept : out_(out), is_first_(is_first) {}

  void separate() {
    if (!is_first_) out_ += ',';
    is_first_ = false;
  }
  void place() {
    NUSTREAM_REQUIRE(within_ != Within::object, "a member of an object has a name");
    separate();
  }
  void place(MemberName name) {
    NUSTREAM_REQUIRE(within_ != Within::array, "an element of an array has no name");
    separate();
    name.append(out_);
  }

  Scope open(Within within) {
    out_ += within == Within::object ? '{' : '[';
    is_first_ = true;
    return {*this, std::exchange(within_, within)};
  }
  void close(Within around) {
    out_ += within_ == Within::object ? '}' : ']';
    within_ = around;
    is_first_ = false;
  }

  template <class Value>
  void put(const Value& value) {
    if constexpr (std::is_same_v<Value, bool>) {
      out_ += value ? "true" : "false";
    } else if constexpr (std::is_same_v<Value, std::nullptr_t>) {
      out_ += "null";
    } else if constexpr (std::is_floating_point_v<Value>) {
      append_number(double{value}, out_);
    } else if constexpr (std::is_integral_v<Value>) {
      static_assert(!std::is_same_v<Value, char>, "a character is written as a text");
      append_number(value, out_);
    } else {
      append_string(value, out_);
    }
  }
  template <class Value>
  void put(const std::optional<Value>& value) {
    if (!value) return put(nullptr);
    put(*value);
  }

  std::string& out_;
  Within within_ = Within::text;
  bool is_first_ = true;  // of what is around the next value
};

/// The text of one object, whose members `write` writes with the writer that it is given.
template <class Write>
[[nodiscard]] std::string object_text(const Write& write) {
  std::string out;
  JsonWriter json(out);
  {
    const auto object = json.object();
    write(json);
  }
  return out;
}

}  // namespace nustream::publish
