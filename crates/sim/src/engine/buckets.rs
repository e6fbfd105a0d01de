//! Events in buckets of time, for ranks that share no channels and that no event reaches without
//! delay.
//!
//! An event in a bucket causes nothing at another rank in the same bucket: its effects reach other
//! ranks at least one bucket's width later. So the ranks are processed one after the other within a
//! bucket, and only the order of each rank's own events matters.

use std::collections::BTreeMap;

use super::clock::{Clock, Time};
use super::event::{Event, Queue, What};
use super::world::World;
use crate::error::Result;

/// Number of buckets after the present one that are sorted into blocks; later events are not sorted
/// yet.
const NEAR: u64 = 8;

/// Ranks in a block, as a power of two: few enough for their events to fit into a cache.
const BLOCK_BITS: u32 = 12;

/// Number of events in a block from which they are sorted by counting instead of comparing.
const MANY: usize = 512;

#[derive(Debug)]
pub(super) struct Buckets<T> {
    /// Width of a bucket, in picoseconds.
    width: u64,
    /// Number of the present bucket, and the time at which it ends.
    present: u64,
    end: u64,
    /// The next buckets, by their numbers modulo [`NEAR`].
    near: [Bucket<T>; NEAR as usize],
    far: BTreeMap<u64, Vec<Event<T>>>,
    /// Memory of blocks that are done, for reuse.
    spare: Vec<Vec<Event<T>>>,
    /// The next event of the rank that is being processed.
    next: Option<T>,
    /// When that rank wants to be woken, if within the present bucket.
    alarm: Option<T>,
}

/// Events in a bucket, for each block of ranks.
#[derive(Clone, Debug)]
struct Bucket<T> {
    events: usize,
    blocks: Vec<Vec<Event<T>>>,
}

impl<T: Time> Buckets<T> {
    /// Buckets of this width, which must not be 0, for `ranks` ranks.
    pub(super) fn new(width: u64, ranks: usize) -> Self {
        let blocks = vec![Vec::new(); (ranks >> BLOCK_BITS) + 1];
        let near = std::array::from_fn(|_| Bucket { events: 0, blocks: blocks.clone() });
        let (far, spare, next) = Default::default();
        Self { width, present: 0, end: width, near, far, spare, next, alarm: None }
    }

    #[inline(always)]
    fn put(&mut self, bucket: u64, event: Event<T>) {
        let Bucket { events, blocks } = &mut self.near[(bucket % NEAR) as usize];
        *events += 1;
        let block = &mut blocks[(event.to >> BLOCK_BITS) as usize];
        if block.capacity() == 0
            && let Some(spare) = self.spare.pop()
        {
            *block = spare;
        }
        block.push(event);
    }

    /// Makes the next bucket with events the present one. Returns whether there is one.
    fn advance(&mut self) -> bool {
        let near = (self.present + 1..self.present + NEAR)
            .find(|bucket| self.near[(bucket % NEAR) as usize].events > 0);
        let first = near.or_else(|| self.far.first_key_value().map(|(bucket, _)| *bucket));
        let Some(bucket) = first else { return false };
        self.present = bucket;
        self.end = bucket.saturating_add(1).saturating_mul(self.width);
        while let Some(far) = self.far.first_entry()
            && *far.key() < bucket.saturating_add(NEAR)
        {
            let (bucket, events) = far.remove_entry();
            events.into_iter().for_each(|event| self.put(bucket, event));
        }
        true
    }
}

impl<T: Time> Queue<T> for Buckets<T> {
    #[inline(always)]
    fn push(&mut self, event: Event<T>) {
        // Every event pushed is later than the present bucket.
        let bucket = match event.time.picoseconds().saturating_sub(self.end) {
            soon if soon < self.width => self.present + 1,
            later => self.present + 1 + later / self.width,
        };
        if bucket < self.present + NEAR {
            self.put(bucket, event);
        } else {
            self.far.entry(bucket).or_default().push(event);
        }
    }

    fn wake_at(&mut self, time: T, rank: u32) {
        if time.picoseconds() < self.end {
            self.alarm = Some(time);
        } else {
            self.push(Event::own(time, rank, What::Wake));
        }
    }

    fn settled(&self, time: T) -> bool {
        time.picoseconds() < self.end && self.next.is_none_or(|next| time < next)
    }
}

/// Sorts a block's events by receiver; those of one receiver keep the order in which they were
/// sent.
fn sort<T: Time>(events: &mut Vec<Event<T>>, sorted: &mut Vec<Event<T>>, ends: &mut Vec<u32>) {
    if events.is_sorted_by_key(|event| event.to) {
        return;
    }
    if events.len() < MANY {
        events.sort_by_key(|event| event.to);
        return;
    }
    let place = |event: &Event<T>| event.to as usize % (1 << BLOCK_BITS);
    ends.clear();
    ends.resize(1 << BLOCK_BITS, 0);
    events.iter().for_each(|event| ends[place(event)] += 1);
    let mut before = 0;
    for end in &mut *ends {
        before += std::mem::replace(end, before);
    }
    sorted.resize(events.len(), events[0]);
    for event in &*events {
        let end = &mut ends[place(event)];
        sorted[*end as usize] = *event;
        *end += 1;
    }
    std::mem::swap(events, sorted);
}

impl<C: Clock> World<'_, Buckets<C::At>, C> {
    /// Processes all events, bucket by bucket.
    ///
    /// # Errors
    /// As [`World::happen`] and [`World::in_time`].
    pub(super) fn in_buckets(&mut self) -> Result {
        for rank in 0..self.ranks.len() as u32 {
            self.happen(&Event::own(C::At::default(), rank, What::Begin))?;
            self.wake_before(rank, None)?;
        }
        let (mut sorted, mut ends) = (Vec::new(), Vec::new());
        while self.queue.advance() {
            self.in_time(self.queue.end.saturating_sub(self.queue.width))?;
            let bucket = (self.queue.present % NEAR) as usize;
            self.queue.near[bucket].events = 0;
            for block in 0..self.queue.near[bucket].blocks.len() {
                let mut events = std::mem::take(&mut self.queue.near[bucket].blocks[block]);
                if events.is_empty() {
                    continue;
                }
                sort(&mut events, &mut sorted, &mut ends);
                for events in events.chunk_by_mut(|one, next| one.to == next.to) {
                    self.at_rank(events)?;
                }
                events.clear();
                self.queue.spare.push(events);
            }
        }
        Ok(())
    }

    /// Processes the events of one rank in a bucket.
    fn at_rank(&mut self, events: &mut [Event<C::At>]) -> Result {
        if events.len() > 1 {
            events.sort_by_key(Event::key);
            for two in events.windows(2) {
                self.clock.meet(two[0].time, two[1].time);
            }
        }
        for (index, event) in events.iter().enumerate() {
            self.queue.next = Some(event.time);
            self.wake_before(event.to, Some(event.time))?;
            self.queue.next = events.get(index + 1).map(|next| next.time);
            self.happen(event)?;
        }
        self.wake_before(events[0].to, None)
    }

    /// Wakes a rank that wants to be woken before `time`, or, without a `time`, in this bucket.
    fn wake_before(&mut self, rank: u32, time: Option<C::At>) -> Result {
        let is_due = |alarm: &mut C::At| time.is_none_or(|time| *alarm < time);
        while let Some(alarm) = self.queue.alarm.take_if(is_due) {
            self.happen(&Event::own(alarm, rank, What::Wake))?;
        }
        Ok(())
    }
}
