// Recognises a file that is one JSON document and has its records inside.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/input.h"
#include "decode/first_lines.h"
#include "nustream/record/schema.h"

namespace nustream::decode {

/// What the beginning of a JSON document shows.
struct JsonOutline {
  /// It is an object, and only white space follows it as far as was seen.
  bool is_one = false;
  std::vector<std::string> members{};  ///< names of its members at the top level
  std::vector<std::string> nested{};   ///< those of them that are arrays or objects
  /// The names inside each of those members, where all of them that were seen to their end are objects with the same
  /// names, and there are two or more.
  std::vector<std::string> inside{};
  /// Path to the first array of objects that is in no other array; may be empty.
  std::vector<std::string> records_in{};
};
/// Walks over `text`; `is_all` says that nothing follows it.
[[nodiscard]] JsonOutline outline_of(std::string_view text, bool is_all);

/// A sentence that says what to type where the content of `path`, which begins with `text`, is one document: taken as
/// a record it lacks every one of `columns`, but it has records in an array inside, the columns as arrays, a member
/// for each record, or names and rows beside each other. Else "". The sentence holds no name of the file except very
/// common ones, unless settings.may_show_header allows it.
[[nodiscard]] std::string one_document(std::string_view text, bool is_all, const std::vector<std::string>& columns,
                                       const config::InputSettings& settings, const std::string& path);

/// Whether a content that begins so may be refused as one document: may_decide() allows it, where a record that is
/// itself such a document counts as none, and what is there of it is one object.
[[nodiscard]] bool may_be_one_document(const FirstContent& first, const std::vector<std::string>& columns,
                                       const config::InputSettings& settings);

/// Looks at those files of `settings` that can be read twice. Throws Failure(data) with one_document().
void refuse_one_document(const config::InputSettings& settings, const record::Schema& schema);

}  // namespace nustream::decode
