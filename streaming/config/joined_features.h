// Joins the features of a text of settings that come from one key of the file: one_hot, hash and bins each make many.
#pragma once

#include <string>
#include <vector>

#include "config/settings_by_name.h"

namespace nustream::config {

/// Makes one entry of all features of a key one_hot, hash or bins, under the names that the file has: the list of
/// texts, the number of buckets or the edges, and other. An indicator that stands alone in both texts stays as it is,
/// since it was most likely written as one. The labels of a target become model.labels.
void join_features(SettingsByName& there, SettingsByName& here);

/// The name of such an entry, and of every other one, as a message shows it: "feature 'city'.hash".
[[nodiscard]] std::string told_name(const std::string& name);

/// The entries, of which one stands for all that say the same of many features, such as another scale of each. They
/// would bury what else differs.
[[nodiscard]] std::vector<std::string> with_likes_together(const std::vector<std::string>& told);

}  // namespace nustream::config
