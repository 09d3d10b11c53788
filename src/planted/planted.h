// Privacy bugs that tests plant on purpose, each at the very line that it falsifies, one at a time: what catches it
// is in docs/planted-bugs.md. Builds without NUSTREAM_PLANTS contain nothing of it, not even the names.
//
//     NUSTREAM_PLANTED("name") ? wrong : right
//
// is true where the environment says NUSTREAM_PLANT=name.
#pragma once

#ifdef NUSTREAM_PLANTS

#include <array>
#include <cstddef>
#include <string_view>

namespace nustream::planted {

/// Every bug, by the rooms that the data walks through.
inline constexpr std::array names{
    // decode
    std::string_view("open-quote-swallows-the-next-row"),
    std::string_view("watermark-makes-records-late"),
    std::string_view("record-of-the-future-is-dropped"),
    std::string_view("zone-minutes-always-east"),
    std::string_view("short-pass-is-taken"),
    // what the settings come to
    std::string_view("private-first-stage-is-not-clipped"),
    std::string_view("tables-are-zero-out"),
    std::string_view("table-is-read-once"),
    std::string_view("each-run-spends-the-budget"),
    std::string_view("table-counts-usable-records"),
    std::string_view("passes-are-not-counted"),
    std::string_view("sigma-of-another-correlation"),
    std::string_view("replace-one-in-the-plan-alone"),
    std::string_view("noise-divided-by-n"),
    std::string_view("each-stage-spends-the-budget"),
    std::string_view("moments-are-not-charged"),
    std::string_view("moments-without-noise"),
    std::string_view("digest-without-the-noise"),
    // privacy
    std::string_view("replace-one-moves-g"),
    std::string_view("sigma-from-squared-gamma"),
    std::string_view("sigma-without-the-root"),
    std::string_view("rho-of-gamma-not-squared"),
    std::string_view("gamma-of-b"),
    std::string_view("gamma-of-one-exponential-sum"),
    std::string_view("gamma-of-one-participation"),
    std::string_view("gamma-of-the-exact-series"),
    std::string_view("tree-without-its-root"),
    std::string_view("restart-is-charged-as-one-block"),
    std::string_view("composition-takes-the-largest"),
    std::string_view("epsilon-of-the-root-of-rho"),
    std::string_view("renyi-order-off-by-one"),
    std::string_view("restated-as-it-is"),
    std::string_view("overlap-is-taken-for-disjoint"),
    // noise
    std::string_view("noise-by-c"),
    std::string_view("lanes-share-a-key"),
    std::string_view("stages-share-a-key"),
    std::string_view("blocks-share-a-key"),
    std::string_view("old-keys-are-kept"),
    std::string_view("words-of-32-bits"),
    std::string_view("counter-restarts-with-each-call"),
    std::string_view("horizon-is-passed"),
    std::string_view("restart-keeps-the-memory"),
    std::string_view("segments-without-fresh-bytes"),
    std::string_view("salt-in-place-of-the-key"),
    std::string_view("resume-keeps-the-old-segment"),
    std::string_view("window-reads-under-the-newest-key-alone"),
    // descent
    std::string_view("clip-rounds-outward"),
    std::string_view("norm-overflows"),
    std::string_view("noise-without-grid"),
    std::string_view("noise-is-left-out"),
    std::string_view("bad-record-takes-no-step"),
    std::string_view("clip-after-the-noise"),
    std::string_view("clip-of-the-mean"),
    std::string_view("regulariser-inside-the-clip"),
    std::string_view("minibatch-by-the-observed-count"),
    std::string_view("first-stage-clipped-as-the-second"),
    std::string_view("matrix-iterate-is-not-projected"),
    std::string_view("two-stage-iterate-is-not-projected"),
    std::string_view("matrix-average-without-its-noise"),
    std::string_view("two-stage-average-without-its-noise"),
    // users
    std::string_view("records-spend-is-taken-for-users"),
    std::string_view("users-cost-what-a-record-costs"),
    std::string_view("tables-users-are-in-one-minibatch"),
    std::string_view("users-records-are-clipped-one-by-one"),
    std::string_view("users-epochs-cost-the-dearest"),
    std::string_view("users-second-record-is-refused"),
    std::string_view("users-counts-restart-at-a-resume"),
    std::string_view("users-counts-restart-with-an-epoch"),
    std::string_view("users-closed-ones-count-under-another-column"),
    std::string_view("attached-users-counts-restart-at-a-resume"),
    std::string_view("attached-users-count-in-every-lane"),
    std::string_view("attached-users-begin-anew-in-another-lane"),
    std::string_view("attached-users-spent-nothing-in-other-lanes"),
    std::string_view("users-counts-outlive-their-window"),
    std::string_view("users-last-step-survives-a-border"),
    std::string_view("users-clock-restarts-at-a-resume"),
    std::string_view("users-windows-go-by-producers-times"),
    std::string_view("users-rows-enter-the-sums-one-by-one"),
    std::string_view("users-sums-cost-what-a-record-costs"),
    // private ranges
    std::string_view("histograms-move-by-one"),
    std::string_view("a-moved-count-counts-once"),
    std::string_view("counts-without-noise"),
    std::string_view("parts-share-records"),
    std::string_view("fit-stages-share-a-key"),
    std::string_view("curvature-is-not-bounded"),
    std::string_view("scores-without-noise"),
    std::string_view("each-step-of-a-fit-spends-the-budget"),
    std::string_view("ranges-are-not-charged"),
    std::string_view("fits-cost-the-dearest"),
    // moments
    std::string_view("sums-scale-inputs-alone"),
    std::string_view("second-moments-without-the-root"),
    std::string_view("residual-clipped-before-scaling"),
    std::string_view("sums-clip-without-room"),
    std::string_view("separation-of-records-taken-for-steps"),
    std::string_view("sums-cost-one-block"),
    std::string_view("spread-is-not-charged"),
    std::string_view("eigenvalue-is-not-charged"),
    std::string_view("smallest-eigenvalue-is-exact"),
    std::string_view("replaced-sums-move-by-one"),
    std::string_view("number-of-records-is-exact"),
    std::string_view("noise-in-units-of-the-last-stage"),
    std::string_view("noise-is-left-out-before-a-stage"),
    std::string_view("floor-reads-the-sums-without-noise"),
    std::string_view("interval-without-the-noise-of-h"),
    std::string_view("instruments-scaled-with-regressors"),
    std::string_view("regressors-are-clipped-one-by-one"),
    std::string_view("regressors-are-not-charged"),
    // local reports
    std::string_view("local-bound-is-not-enforced"),
    std::string_view("local-records-differ-by-one-norm"),
    std::string_view("local-parts-spend-the-budget-each"),
    std::string_view("local-delta-is-not-split"),
    std::string_view("local-retry-draws-again"),
    // engine
    std::string_view("resume-forgets-the-velocity"),
    std::string_view("resume-restarts-the-noise"),
    std::string_view("resume-restarts-the-spend"),
    std::string_view("spend-forgets-earlier-epochs"),
    std::string_view("epoch-goes-on-from-the-state"),
    std::string_view("budget-is-crossed-by-a-step"),
    std::string_view("batch-never-closes-by-bytes"),
    std::string_view("attached-batch-never-closes-by-bytes"),
    std::string_view("noise-ahead-keeps-its-first-key"),
    // secrets
    std::string_view("randomness-falls-back"),
    std::string_view("clock-and-pid-seed-where-getrandom-is-not-ready"),
    std::string_view("short-draw-is-taken"),
    std::string_view("low-entropy-seed"),
    std::string_view("epoch-key-of-zeros"),
    std::string_view("epoch-key-of-the-key-file"),
    std::string_view("fresh-bytes-are-repeated"),
    std::string_view("later-epochs-draw-no-key"),
    std::string_view("zero-key-file-is-taken"),
    std::string_view("state-is-not-sealed"),
    std::string_view("nonce-is-used-again"),
    std::string_view("insecure-state-becomes-private"),
    // journal
    std::string_view("release-before-its-state"),
    std::string_view("rolled-back-state-is-taken"),
    std::string_view("ledger-beyond-a-folders-state-is-not-seen"),
    std::string_view("releases-beyond-a-folders-state-are-not-seen"),
    std::string_view("releases-beyond-the-state-are-not-seen"),
    std::string_view("ledger-beyond-the-state-is-not-seen"),
    std::string_view("committed-offset-beyond-the-state-is-not-seen"),
    std::string_view("lost-ledger-is-taken-for-none"),
    std::string_view("rejects-stop-the-releases"),
    std::string_view("release-in-its-own-transaction"),
    // witness
    std::string_view("witness-is-not-asked"),
    std::string_view("witness-without-its-mac"),
    std::string_view("witness-that-cannot-be-believed-is-forgotten"),
    std::string_view("lost-epoch-is-charged-what-the-witness-saw"),
    std::string_view("witness-of-another-run-is-written-over"),
    std::string_view("last-commits-lie-outside-the-witness"),
    // what is shown
    std::string_view("limit-shown-as-the-spend"),
    std::string_view("spend-shown-as-the-limit"),
    std::string_view("spend-lags-a-step"),
    std::string_view("public-listener-shows-the-operators-page"),
    std::string_view("public-steps-leave-out-rejects"),
    std::string_view("public-counter-counts-rejects"),
    std::string_view("readiness-falls-with-rejects"),
    std::string_view("page-is-ahead-of-its-state"),
    std::string_view("printed-ahead-of-its-state"),
    std::string_view("table-counts-usable-steps"),
    std::string_view("json-counts-usable-steps"),
};

consteval std::size_t index_of(std::string_view name) {
  for (std::size_t index = 0; index < names.size(); ++index) {
    if (names[index] == name) return index;
  }
  throw "no such bug: add it to the table";
}

/// Whether NUSTREAM_PLANT names the bug; the process ends where it names none of the table.
[[nodiscard]] bool is_planted(std::size_t index) noexcept;

}  // namespace nustream::planted

#define NUSTREAM_PLANTED(name) ::nustream::planted::is_planted(::nustream::planted::index_of(name))

#else
#define NUSTREAM_PLANTED(name) false
#endif
