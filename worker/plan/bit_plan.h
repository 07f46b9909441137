// What is kept of each saved activation, by layer and site: the plan that the planner makes and the
// engine obeys. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/quant_spec.h"

namespace agoq {

// The tensors that a block's backward needs, in the order in which forward makes them.
enum class Site : std::uint8_t {
  kX1,    // input of the first norm (residual stream)
  kQ,     // queries after RoPE
  kK,     // keys after RoPE, unexpanded
  kV,     // values, unexpanded
  kO,     // attention output, also the input of the output projection
  kX2,    // input of the second norm
  kGate,  // gate projection
  kUp,    // up projection
};
inline constexpr int kNumSites = 8;
inline constexpr std::array<Site, kNumSites> kAllSites = {
    Site::kX1, Site::kQ, Site::kK, Site::kV, Site::kO, Site::kX2, Site::kGate, Site::kUp};

std::string_view NameOf(Site site);
std::optional<Site> SiteFromName(std::string_view name);

enum class PolicyKind : std::uint8_t {
  kFull,       // kept in the compute type
  kPacked,     // kept as `spec` says
  kRecompute,  // made again in backward: q k v from x1; gate, up from x2; everything from x1 if no
               // other site is kept
};

struct SitePolicy {
  PolicyKind kind = PolicyKind::kFull;
  QuantSpec spec;  // meaningful for kPacked only

  friend constexpr bool operator==(const SitePolicy& a, const SitePolicy& b) {
    return a.kind == b.kind && (a.kind != PolicyKind::kPacked || a.spec == b.spec);
  }
};

struct LayerPlan {
  std::array<SitePolicy, kNumSites> sites;
  std::string reason;

  const SitePolicy& at(Site site) const { return sites[static_cast<std::size_t>(site)]; }
  SitePolicy& at(Site site) { return sites[static_cast<std::size_t>(site)]; }
  // x1 is full and every other site is recomputed: the block runs again in backward.
  bool recomputes_block() const;
};

struct RankPlan {
  std::int64_t rank = 0;
  std::int64_t stage = 0;
  std::int64_t chunk = 0;
  std::int64_t budget_bytes = 0;          // 0: no bound
  std::int64_t predicted_peak_bytes = 0;  // 0: not predicted
  std::vector<LayerPlan> layers;
};

struct BitPlan {
  std::int64_t revision = 0;
  std::string hash;
  std::int64_t effective_step = 0;
  std::vector<RankPlan> ranks;
};

// Named tables. `full` keeps everything; `paper` keeps attention full and x1, x2, gate, up in
// nf4/128; `recompute` keeps x1.
LayerPlan FullLayer();
LayerPlan PaperLayer();
LayerPlan RecomputeLayer();
std::optional<LayerPlan> LayerFromPolicyName(std::string_view name);
BitPlan UniformPlan(const LayerPlan& layer, std::int64_t num_layers, std::int64_t num_ranks);

// What a plan breaks, each with rank, layer, site and remedy; empty means valid. `warnings` are
// allowed but known to harm training (q or k at 6 bits or fewer, o at 4).
struct PlanReview {
  std::vector<std::string> errors;
  std::vector<std::string> warnings;
};
PlanReview ReviewPlan(const BitPlan& plan, std::int64_t num_layers, std::int64_t num_ranks);

}  // namespace agoq
