//! Whether results hold something that the user should act on.

use bandgap_record::Outcome;

/// Whether a result holds something that the user should act on.
pub fn has_findings(result: &Outcome) -> bool {
    match result {
        Outcome::Logp(logp) => {
            let p = &logp.parameters;
            // Of a surface's many points some always scatter: its parameters count.
            !logp.is_of_transfers() && logp.points.iter().any(|point| !point.converged)
                || [&p.send_overhead, &p.recv_overhead, &p.gap, &p.rtt]
                    .iter()
                    .any(|q| q.as_ref().is_none_or(|q| !q.converged))
        }
        Outcome::Series(series) => series.points.iter().any(|point| !point.converged),
        Outcome::RttPairs(pairs) => pairs.pairs.iter().any(|pair| !pair.rtt.converged),
        Outcome::Contention(contention) => contention.rows.iter().any(|row| !row.gap.converged),
        Outcome::Floor(floor) => !floor.value.quantity().converged,
        _ => false,
    }
}
