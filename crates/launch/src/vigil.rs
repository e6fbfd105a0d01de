//! Whether ranks that have long said nothing are alive.

use std::time::{Duration, Instant};

use bandgap_host::process::Life;

/// Between two looks, at most and at least.
const PERIOD: [Duration; 2] = [Duration::from_secs(1), Duration::from_millis(20)];

/// Looks at the ranks while nothing comes from any of them. Batches come several times a second, so that a launcher
/// looks only where a batch takes longer, or none ends any more.
#[derive(Debug)]
pub struct Vigil {
    deadline: Duration,
    period: Duration,
    since: Instant,
    ranks: Vec<Seen>,
}

/// What was seen of a rank since something last came.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    life: Life,
    /// For how long it has been stopped.
    stopped: Duration,
    /// For how long it has done nothing.
    still: Duration,
}

/// Why nothing more can come.
#[derive(Debug, PartialEq)]
pub enum Lifeless {
    /// These ranks have been stopped for longer than the deadline.
    Stopped(Vec<usize>),
    /// No rank has done anything for longer than the deadline.
    All,
}

impl Vigil {
    pub fn new(ranks: usize, deadline: Duration) -> Self {
        let period = (deadline / 4).min(PERIOD[0]).max(PERIOD[1]);
        Self { deadline, period, since: Instant::now(), ranks: vec![Seen::default(); ranks] }
    }

    /// Something came.
    pub fn heard(&mut self) {
        self.since = Instant::now();
        self.ranks.fill(Seen::default());
    }

    /// Time until the next look.
    pub fn left(&self) -> Duration {
        self.period.saturating_sub(self.since.elapsed())
    }

    /// Looks, if it is time, at the life of each rank; `None` of one that has ended or cannot be seen.
    pub fn look(&mut self, life: impl Fn(usize) -> Option<Life>) -> Option<Lifeless> {
        let span = self.since.elapsed();
        if span < self.period {
            return None;
        }
        self.since = Instant::now();
        // A launcher that was stopped itself has seen nothing meanwhile.
        self.see(span.min(2 * self.period), life)
    }

    fn see(&mut self, span: Duration, life: impl Fn(usize) -> Option<Life>) -> Option<Lifeless> {
        let mut seen = false;
        let mut still = true;
        let mut stopped = Vec::new();
        for (rank, of) in self.ranks.iter_mut().enumerate() {
            let Some(life) = life(rank) else { continue };
            let since =
                |before: bool, for_: Duration| if before { for_ + span } else { Duration::ZERO };
            *of = Seen {
                life,
                stopped: since(of.life.stopped && life.stopped, of.stopped),
                still: since(of.life.done == life.done, of.still),
            };
            if of.stopped > self.deadline {
                stopped.push(rank);
            }
            still &= of.still > self.deadline;
            seen = true;
        }
        match (stopped.is_empty(), seen && still) {
            (false, _) => Some(Lifeless::Stopped(stopped)),
            (true, true) => Some(Lifeless::All),
            (true, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// What comes of so many looks, a second after each other, at two ranks.
    fn looks(
        vigil: &mut Vigil,
        looks: u64,
        of: impl Fn(u64) -> [(bool, u64); 2],
    ) -> Option<Lifeless> {
        (1..=looks).find_map(|look| {
            let lives = of(look).map(|(stopped, done)| Life { stopped, done });
            vigil.see(SECOND, |rank| Some(lives[rank]))
        })
    }

    #[test]
    fn a_stopped_rank_is_lifeless_after_the_deadline_and_one_that_works_never() {
        let stopped = |look| [(false, look), (true, 7)];
        // Seen first by the first look, and over 3 s later by the fifth.
        let mut vigil = Vigil::new(2, 3 * SECOND);
        assert_eq!(looks(&mut vigil, 4, stopped), None);
        assert_eq!(looks(&mut vigil, 1, stopped), Some(Lifeless::Stopped(vec![1])));
        let mut vigil = Vigil::new(2, 3 * SECOND);
        assert_eq!(looks(&mut vigil, 90, |look| [(false, look), (false, 7)]), None);
        // Stopped now and then: it goes on in between.
        let now_and_then = |look| [(false, 7), (look % 4 > 0, look)];
        assert_eq!(looks(&mut vigil, 90, now_and_then), None);
    }

    #[test]
    fn ranks_that_do_nothing_are_lifeless_together_only() {
        let mut vigil = Vigil::new(2, 3 * SECOND);
        let still = |_| [(false, 7), (false, 8)];
        assert_eq!(looks(&mut vigil, 4, still), None);
        assert_eq!(looks(&mut vigil, 1, still), Some(Lifeless::All));
        // What comes counts from the beginning again.
        vigil.heard();
        assert_eq!(looks(&mut vigil, 4, still), None);
        // Ranks that have ended are not looked at.
        assert_eq!(Vigil::new(2, Duration::ZERO).see(SECOND, |_| None), None);
    }

    #[test]
    fn a_look_is_taken_when_it_is_time() {
        let mut vigil = Vigil::new(1, Duration::from_secs(3600));
        assert!(vigil.left() > Duration::ZERO);
        assert_eq!(vigil.look(|_| panic!("too soon")), None);
    }
}
