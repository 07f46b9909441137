#include "server/cluster.h"

#include <chrono>

namespace agoq {

AttemptView& Cluster::ViewOf(const v1::Job& job) {
  AttemptView& view = views[job.id()];
  if (view.generation == job.attempt().generation()) return view;
  view = AttemptView{.generation = job.attempt().generation(), .began = clock.Now()};
  view.ranks.resize(static_cast<std::size_t>(job.attempt().placements_size()));
  for (RankView& rank : view.ranks) rank.stepped = clock.Now();
  return view;
}

double Cluster::SecondsSince(Clock::Steady then) const {
  return std::chrono::duration<double>(clock.Now() - then).count();
}

v1::RankId IdOf(const v1::Job& job, std::int64_t rank) {
  v1::RankId id;
  id.set_job_id(job.id());
  id.set_generation(job.attempt().generation());
  id.set_rank(rank);
  return id;
}

}  // namespace agoq
