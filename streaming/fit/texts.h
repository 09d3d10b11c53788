// The texts in a column's first records, and what they look like where they are not numbers. They are not private.
#pragma once

#include <string>

#include "check/label_texts.h"
#include "fit/columns.h"

namespace nustream::fit {

/// Counts of the texts in the first records.
struct Texts {
  check::LabelTexts all;
  check::LabelTexts unread;  ///< those that are not numbers
};

/// Counts the texts of `column` in the first thousand records; in a segment, in all records. Throws as the reader
/// does.
[[nodiscard]] Texts texts_of(const config::InputSettings& input, const std::string& column);

/// What most of the texts look like, with a cure, such as "; they look like numbers with decimal commas: add
/// --decimal ,". Empty where no cure is known. The answer quotes none of the texts.
[[nodiscard]] std::string cure_of(const check::LabelTexts& texts, const config::InputSettings& input,
                                  const std::string& column);

/// Those of the texts, such as "'no', 'yes'", that occur in at least a twentieth of the records. Empty where there
/// are more than a few texts. `last` receives the last of them, which most often means yes.
[[nodiscard]] std::string labels_in(const check::LabelTexts& texts, std::string* last = nullptr);

/// The members of the first record of JSON lines where that record lacks `column`, with a guess at the member that
/// was meant, such as " (did you mean '/user/x'?); the first record has 'a', '/user/x'". Empty where the record has
/// the column, or is not an object.
[[nodiscard]] std::string members_near(const config::InputSettings& input, const std::string& column);

}  // namespace nustream::fit
