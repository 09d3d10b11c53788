// A file that is one JSON document, with its records inside.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/input.h"
#include "nustream/record/schema.h"

namespace nustream::decode {

/// What is seen of a JSON document from its beginning.
struct JsonOutline {
  bool is_one = false;                    ///< an object, and nothing but white space behind it as far as was seen
  std::vector<std::string> members{};     ///< of the top level
  std::vector<std::string> nested{};      ///< those of them that are arrays or objects
  std::vector<std::string> records_in{};  ///< the way to the first array of objects that no array holds; or empty
};
/// `is_all`: nothing follows `text`.
[[nodiscard]] JsonOutline outline_of(std::string_view text, bool is_all);

/// One sentence that says what to type where `text`, which the content of `path` begins with, is one document whose
/// one record lacks every one of `columns`, but has records in an array inside or has the columns as arrays; else "".
/// The sentence holds no name of the file's but those that everybody uses, unless settings.may_show_header says so.
[[nodiscard]] std::string one_document(std::string_view text, bool is_all, const std::vector<std::string>& columns,
                                       const config::InputSettings& settings, const std::string& path);

/// Looks at those files of `settings` that can be read twice. Failure(data) with one_document().
void refuse_one_document(const config::InputSettings& settings, const record::Schema& schema);

}  // namespace nustream::decode
