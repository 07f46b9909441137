#include "worker/plan/bit_plan.h"

#include <algorithm>
#include <utility>

namespace agoq {
namespace {

constexpr std::array<std::string_view, kNumSites> kSiteNames = {"x1", "q",  "k",    "v",
                                                                "o",  "x2", "gate", "up"};

bool IsRecomputed(const LayerPlan& layer, Site site) {
  return layer.at(site).kind == PolicyKind::kRecompute;
}

bool IsPackedAtMost(const SitePolicy& policy, int bits) {
  return policy.kind == PolicyKind::kPacked && BitsOf(policy.spec.format) <= bits;
}

std::string_view KindName(PolicyKind kind) {
  switch (kind) {
    case PolicyKind::kFull:
      return "full";
    case PolicyKind::kPacked:
      return "packed";
    case PolicyKind::kRecompute:
      return "recompute";
  }
  return "?";
}

std::string Describe(const SitePolicy& policy) {
  if (policy.kind != PolicyKind::kPacked) return std::string(KindName(policy.kind));
  return std::string(NameOf(policy.spec.format)) + "/" + std::to_string(policy.spec.block);
}

// Every site but x1 is recomputed, whatever x1 is.
bool AsksForWholeBlock(const LayerPlan& layer) {
  return std::all_of(kAllSites.begin(), kAllSites.end(),
                     [&](Site site) { return site == Site::kX1 || IsRecomputed(layer, site); });
}

// Collects the findings of one layer of one rank.
class LayerReview {
 public:
  LayerReview(const LayerPlan& layer, std::string place, PlanReview* review)
      : layer_(layer), place_(std::move(place)), review_(review) {}

  void Run() {
    CheckBlocks();
    CheckSources();
    WarnOfLossySites();
  }

 private:
  std::string Text(Site site, const std::string& finding) const {
    return place_ + ", site " + std::string(NameOf(site)) + ": " + Describe(layer_.at(site)) +
           ": " + finding;
  }
  void Error(Site site, const std::string& finding) {
    review_->errors.push_back(Text(site, finding));
  }
  void Warn(Site site, const std::string& finding) {
    review_->warnings.push_back(Text(site, finding));
  }

  void CheckBlocks() {
    for (Site site : kAllSites) {
      const SitePolicy& policy = layer_.at(site);
      if (policy.kind != PolicyKind::kPacked || IsValidBlock(policy.spec.block)) continue;
      Error(site, "not a block size; use a power of two from " + std::to_string(kMinBlock) +
                      " to " + std::to_string(kMaxBlock));
    }
  }

  void CheckSources() {
    const SitePolicy& x1 = layer_.at(Site::kX1);
    if (x1.kind == PolicyKind::kRecompute) {
      Error(Site::kX1, "nothing is left to make it from; keep x1 full or packed");
      return;
    }
    if (AsksForWholeBlock(layer_)) {
      if (x1.kind == PolicyKind::kFull) return;
      Error(Site::kX1, "the whole block is recomputed from it; keep x1 full");
      return;
    }
    for (Site site : {Site::kO, Site::kX2}) {
      if (!IsRecomputed(layer_, site)) continue;
      Error(site,
            "possible only with the whole block; keep it full or packed, or recompute "
            "every site but x1");
    }
    const bool exact_enough = x1.kind == PolicyKind::kFull || BitsOf(x1.spec.format) >= 8;
    for (Site site : {Site::kQ, Site::kK, Site::kV}) {
      if (exact_enough || !IsRecomputed(layer_, site)) continue;
      Error(site, "its source x1 is kept as " + Describe(x1) + "; keep x1 full or at 8 bits");
    }
  }

  void WarnOfLossySites() {
    for (Site site : {Site::kQ, Site::kK}) {
      if (IsPackedAtMost(layer_.at(site), 6)) {
        Warn(site,
             "queries and keys at 6 bits or fewer are known to break training; use 8 bits, "
             "full or recompute");
      }
    }
    if (IsPackedAtMost(layer_.at(Site::kO), 4)) {
      Warn(Site::kO, "attention output at 4 bits is known to break training; use 8 bits or full");
    }
  }

  const LayerPlan& layer_;
  const std::string place_;
  PlanReview* const review_;
};

void ReviewRank(const RankPlan& rank, std::int64_t num_layers, PlanReview* review) {
  const std::string place = "plan of rank " + std::to_string(rank.rank);
  if (rank.budget_bytes < 0 || rank.predicted_peak_bytes < 0) {
    review->errors.push_back(place + ": budget_bytes " + std::to_string(rank.budget_bytes) +
                             ", predicted_peak_bytes " + std::to_string(rank.predicted_peak_bytes) +
                             ": a count of bytes is not negative; use 0 for none");
  }
  if (static_cast<std::int64_t>(rank.layers.size()) != num_layers) {
    review->errors.push_back(place + ": has " + std::to_string(rank.layers.size()) +
                             " layers, the model has " + std::to_string(num_layers) +
                             "; give one entry for each layer");
  }
  for (std::size_t i = 0; i < rank.layers.size(); ++i) {
    LayerReview(rank.layers[i], place + ", layer " + std::to_string(i), review).Run();
  }
}

}  // namespace

std::string_view NameOf(Site site) { return kSiteNames[static_cast<std::size_t>(site)]; }

std::optional<Site> SiteFromName(std::string_view name) {
  for (Site site : kAllSites) {
    if (NameOf(site) == name) return site;
  }
  return std::nullopt;
}

bool LayerPlan::recomputes_block() const {
  return at(Site::kX1).kind == PolicyKind::kFull && AsksForWholeBlock(*this);
}

LayerPlan FullLayer() {
  LayerPlan layer;
  layer.reason = "policy full: every site is kept";
  return layer;
}

LayerPlan PaperLayer() {
  LayerPlan layer;
  layer.reason = "policy paper: attention is kept full, the rest at 4 bits";
  for (Site site : {Site::kX1, Site::kX2, Site::kGate, Site::kUp}) {
    layer.at(site) = {PolicyKind::kPacked, {Format::kNf4, kActivationBlock}};
  }
  return layer;
}

LayerPlan RecomputeLayer() {
  LayerPlan layer;
  layer.reason = "policy recompute: the block runs again in backward";
  for (Site site : kAllSites) {
    if (site != Site::kX1) layer.at(site).kind = PolicyKind::kRecompute;
  }
  return layer;
}

std::optional<LayerPlan> LayerFromPolicyName(std::string_view name) {
  if (name == "full") return FullLayer();
  if (name == "paper") return PaperLayer();
  if (name == "recompute") return RecomputeLayer();
  return std::nullopt;
}

BitPlan UniformPlan(const LayerPlan& layer, std::int64_t num_layers, std::int64_t num_ranks) {
  BitPlan plan;
  for (std::int64_t rank = 0; rank < num_ranks; ++rank) {
    RankPlan rank_plan;
    rank_plan.rank = rank;
    rank_plan.layers.assign(static_cast<std::size_t>(num_layers), layer);
    plan.ranks.push_back(std::move(rank_plan));
  }
  return plan;
}

PlanReview ReviewPlan(const BitPlan& plan, std::int64_t num_layers, std::int64_t num_ranks) {
  PlanReview review;
  if (static_cast<std::int64_t>(plan.ranks.size()) != num_ranks) {
    review.errors.push_back("plan: has " + std::to_string(plan.ranks.size()) +
                            " ranks, the job has " + std::to_string(num_ranks) +
                            "; give one entry for each rank");
  }
  for (std::size_t i = 0; i < plan.ranks.size(); ++i) {
    if (plan.ranks[i].rank != static_cast<std::int64_t>(i)) {
      review.errors.push_back("plan: entry " + std::to_string(i) + " is of rank " +
                              std::to_string(plan.ranks[i].rank) +
                              "; list ranks once each, from 0 upwards");
    }
    ReviewRank(plan.ranks[i], num_layers, &review);
  }
  return review;
}

}  // namespace agoq
