#include "server/placement.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <tuple>

#include "proto/common/text_table.h"

namespace agoq {
namespace {

constexpr std::size_t kMostWorkersNamed = 8;

std::string Shortfall(const WorkerOffer& offer, const GangNeed& need) {
  if (!offer.why_not.empty()) return absl::StrCat(offer.worker, " ", offer.why_not);
  std::string text = absl::StrCat(offer.worker, " has ", BytesText(offer.free_bytes), " free of ",
                                  BytesText(offer.total_bytes));
  if (offer.foreign_bytes > 0) {
    absl::StrAppend(&text, " (", BytesText(offer.foreign_bytes), " used by others)");
  }
  if (offer.free_bytes >= need.least_bytes) absl::StrAppend(&text, ", enough");
  return text;
}

std::string Refusal(const GangNeed& need, const std::vector<WorkerOffer>& offers) {
  std::string text =
      absl::StrCat("needs ", need.num_ranks, need.num_ranks == 1 ? " worker" : " workers",
                   " with at least ", BytesText(need.least_bytes), " each; ");
  if (offers.empty()) return absl::StrCat(text, "no worker is connected: start agoq-worker");
  for (std::size_t i = 0; i < std::min(offers.size(), kMostWorkersNamed); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : "; ", Shortfall(offers[i], need));
  }
  if (offers.size() > kMostWorkersNamed) {
    absl::StrAppend(&text, "; and ", offers.size() - kMostWorkersNamed, " more");
  }
  return text;
}

}  // namespace

GangPlacement PlaceGang(const GangNeed& need, std::vector<WorkerOffer> offers) {
  std::sort(offers.begin(), offers.end(), [](const WorkerOffer& a, const WorkerOffer& b) {
    return std::tuple(-a.free_bytes, a.worker) < std::tuple(-b.free_bytes, b.worker);
  });
  GangPlacement result;
  std::int64_t num_idle = 0;
  for (const WorkerOffer& offer : offers) {
    if (!offer.why_not.empty()) continue;
    ++num_idle;
    if (offer.free_bytes < need.least_bytes) continue;
    if (static_cast<std::int64_t>(result.placements.size()) == need.num_ranks) continue;
    v1::Placement& placement = result.placements.emplace_back();
    placement.set_rank(static_cast<std::int64_t>(result.placements.size()) - 1);
    placement.set_worker(offer.worker);
    placement.set_budget_bytes(need.budget_bytes > 0 ? std::min(need.budget_bytes, offer.free_bytes)
                                                     : offer.free_bytes);
  }
  if (static_cast<std::int64_t>(result.placements.size()) == need.num_ranks) return result;
  result.placements.clear();
  result.reason = num_idle < need.num_ranks ? v1::JOB_REASON_INSUFFICIENT_WORKERS
                                            : v1::JOB_REASON_INSUFFICIENT_MEMORY;
  result.message = Refusal(need, offers);
  return result;
}

GangPlacement PlaceOnIdleCluster(const GangNeed& need, std::vector<WorkerOffer> offers) {
  for (WorkerOffer& offer : offers) {
    offer.free_bytes = offer.total_bytes - offer.foreign_bytes;
    offer.why_not.clear();
  }
  return PlaceGang(need, std::move(offers));
}

}  // namespace agoq
