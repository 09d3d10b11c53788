// The texts of a column's first records, and what they look like where they are no numbers. Not private.
#pragma once

#include <string>

#include "check/label_texts.h"
#include "fit/columns.h"

namespace nustream::fit {

/// Of the first records.
struct Texts {
  check::LabelTexts all;
  check::LabelTexts unread;  ///< those that are no numbers
};

/// The texts of `column` in the first thousand records (of a segment, in all). Failure as the reader's.
[[nodiscard]] Texts texts_of(const config::InputSettings& input, const std::string& column);

/// "; they look like numbers with decimal commas: add --decimal ,": what most of the texts look like, with a cure;
/// "" where nothing is known. No text is in it.
[[nodiscard]] std::string cure_of(const check::LabelTexts& texts, const config::InputSettings& input,
                                  const std::string& column);

/// "'no', 'yes'": the texts, where they are few and each is that of a twentieth of the records; else "". `last`: the
/// last of them, which most often is the one that stands for yes.
[[nodiscard]] std::string labels_in(const check::LabelTexts& texts, std::string* last = nullptr);

/// " (did you mean '/user/x'?), whose first record has 'a', '/user/x'": of JSON lines without that member; "" where
/// the first record has it, or is no object.
[[nodiscard]] std::string members_near(const config::InputSettings& input, const std::string& column);

}  // namespace nustream::fit
