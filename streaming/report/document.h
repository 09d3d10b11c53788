// The frame of every report: one HTML file that refers to no other file.
#pragma once

#include <string>
#include <string_view>

namespace nustream::report {

/// `body` is the HTML of the sections. The style, and the script where there is one, stand in the file itself, each
/// under its hash in the content security policy, which allows nothing else.
struct Document {
  std::string title;  ///< as text, not yet escaped
  std::string body;
  std::string_view script{};
};
[[nodiscard]] std::string document(const Document& document);

/// <section id="ID"> with the heading TITLE, given as text, and `html` in it.
[[nodiscard]] std::string section(std::string_view id, std::string_view title, std::string_view html);

/// A block of text that can be scrolled and copied.
[[nodiscard]] std::string copied(std::string_view label, std::string_view text);

/// The policy of a page whose only style is `style` and whose only script is `script`; an empty script means that
/// none is allowed.
[[nodiscard]] std::string policy_for(std::string_view style, std::string_view script = {});

}  // namespace nustream::report
