// The status page: one HTML document of what a surface shows. Its charts are drawn here, so that it works without
// script.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nustream/base/units.h"
#include "serve/lane_status.h"
#include "serve/shown_lane.h"

namespace nustream::serve {

/// What only the operator's page shows of a lane. It is not private.
struct OperatorLane {
  LaneId lane{0};
  LaneStatus state = LaneStatus::waiting;
  std::string reason{};
  double records = 0;
  double rejected = 0;
  double lag = 0;                                   ///< records of the input that wait
  double clipped_ratio = 0;                         ///< clipped over usable records, in the last committed batch
  std::optional<double> commit_seconds{};           ///< mean
  std::optional<double> release_latency_seconds{};  ///< mean
};

/// What only the operator's page shows of the process.
struct OperatorView {
  std::string phase;
  std::string readiness;                       ///< lines that say what stands in the way
  std::optional<double> records_per_second{};  ///< over the last half minute at most
  std::vector<OperatorLane> lanes{};
};

/// All that a page is made of.
struct PageView {
  std::string stream;
  bool ready = false;
  const publish::ShownRelease* model = nullptr;  ///< the combined model; null where there is none
  const History* model_history = nullptr;        ///< of the model, since this process began to publish it
  std::vector<const ShownLane*> lanes{};         ///< by lane number
  bool is_open = true;                      ///< false: these lanes were open here before, and no lane is open now
  LaneId lane{0};                           ///< the lane whose coefficients are drawn, where it is shown
  std::size_t first_coefficient = 0;        ///< the first coefficient that is drawn
  std::string seen{};                       ///< id of the event that tells of this page: text_of(SeenLanes)
  const OperatorView* operators = nullptr;  ///< null on the public page
  /// Part of a report: all coefficients are drawn, and nothing is linked.
  bool is_file = false;
};

/// How many coefficients one page draws; its table has all.
inline constexpr std::size_t coefficients_of_a_page = 12;

/// Which lane and which coefficients a path asks for: "/", "/lanes/3", "/lanes/3/from/12". Empty for other paths.
struct PagePlace {
  std::optional<LaneId> lane{};
  std::size_t first_coefficient = 0;
};
[[nodiscard]] std::optional<PagePlace> page_place(std::string_view path);

/// The lane that is drawn; null where it is not shown.
[[nodiscard]] const ShownLane* lane_of(const PageView& view);

/// Scripts and styles may come from this listener alone and none may stand in the page, and nobody may frame it.
inline constexpr const char* page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

/// Draws the page. Without the operator's view it is a function of public values alone: it shows no clock and no
/// count of requests.
[[nodiscard]] std::string status_page(const PageView& view);

}  // namespace nustream::serve
