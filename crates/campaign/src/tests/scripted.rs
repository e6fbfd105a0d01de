//! A runner for tests: it answers orders from a script, on a clock of its own.

use std::time::Duration;

use crate::machine::{Params, issue_time};
use bandgap_comm::{Delay, Division};
use bandgap_kernels::{Checked, ISSUE, Order, TAKE, WHOLE};

use crate::beside::Beside;
use crate::data::{Kept, Measurements, Probe};
use crate::runner::{AtRank, Executed, Runner, Stop};

/// What happened, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Ran(Order),
    Looked,
    Paused(Duration),
    Said(f64, String),
}

type Answer = Box<dyn FnMut(&Order) -> Result<Executed, Stop>>;

/// The runner. Its fields are the script and the minutes.
pub struct Scripted {
    pub size: usize,
    /// The number of the launch.
    pub launch: u32,
    pub virtual_time: bool,
    pub far: bool,
    /// When its launch usually ends, in seconds, …
    pub usual: f64,
    /// … and when it must be over.
    pub latest: f64,
    pub beside: Vec<Beside>,
    pub division: &'static Division,
    pub answer: Answer,
    pub look: Box<dyn FnMut() -> Option<Probe>>,
    /// Time that a batch takes, in seconds …
    pub cost: f64,
    /// … and whether its samples take their time on top.
    pub timed: bool,
    /// Times of Δ by itself over the time asked for, one after the other; then 1.
    pub delays: Vec<f64>,
    pub events: Vec<Event>,
    pub kept: Measurements,
    now: f64,
}

impl Scripted {
    pub fn new(answer: impl FnMut(&Order) -> Result<Executed, Stop> + 'static) -> Self {
        Self {
            size: 2,
            launch: 3,
            virtual_time: false,
            far: false,
            usual: 1e12,
            latest: 1e12,
            beside: Vec::new(),
            division: &super::division::CALLS,
            answer: Box::new(answer),
            look: Box::new(|| None),
            cost: 0.0,
            timed: false,
            delays: Vec::new(),
            events: Vec::new(),
            kept: Measurements::default(),
            now: 0.0,
        }
    }

    /// All batches take the same time, whatever is ordered.
    pub fn steady(ns: f64) -> Self {
        Self::new(move |order| Ok(taking(order, ns)))
    }

    /// The orders that were run, in order.
    pub fn ran(&self) -> impl Iterator<Item = &Order> {
        self.events.iter().filter_map(|event| match event {
            Event::Ran(order) => Some(order),
            _ => None,
        })
    }

    /// The orders of timed batches.
    pub fn timed(&self) -> impl Iterator<Item = &Order> {
        self.ran().filter(|order| order.probed)
    }

    /// The orders of checked batches.
    pub fn checked(&self) -> impl Iterator<Item = &Order> {
        self.ran().filter(|order| order.checked)
    }

    /// What was said about the progress.
    pub fn said(&self) -> impl Iterator<Item = (f64, &str)> {
        self.events.iter().filter_map(|event| match event {
            Event::Said(done, doing) => Some((*done, doing.as_str())),
            _ => None,
        })
    }
}

/// A batch whose samples all take so long.
pub fn taking(order: &Order, ns: f64) -> Executed {
    columns(order, ns, ns)
}

fn columns(order: &Order, issue: f64, whole: f64) -> Executed {
    let column = |ns| vec![ns; order.samples as usize];
    let checked = Checked { received: 1, compared: 1, summed: 0 };
    let of = [(ISSUE, issue), (TAKE, issue), (WHOLE, whole)];
    let samples = of.map(|(name, ns)| (name, column(ns))).into();
    Executed { samples, checked, ..Executed::default() }
}

/// A batch of requests on this machine, by the model's formula; what is stamped at the border takes all of the time.
pub fn modelled(order: &Order, params: &Params) -> Executed {
    let number = |value: &serde_json::Value| value.as_u64().unwrap_or(0);
    let messages = number(&order.parameters["messages"]).max(1);
    let delay = number(&order.parameters["delay"]["picoseconds"]) as f64 / 1e3;
    let issue = issue_time(params, messages, delay);
    let whole = if messages == 1 { params.rtt() } else { issue + params.rtt() };
    let rank = AtRank { ns: whole, count: messages, begun: messages, passed: 0 };
    let at_border = order.at_border.map_or_else(Vec::new, |_| vec![rank; 2]);
    Executed { at_border, ..columns(order, issue, whole) }
}

/// The same pace before and after, at these distances.
pub fn probes(before: f64, after: f64) -> Option<[Probe; 2]> {
    Some([before, after].map(|cache_line| Probe { cache_line, pace: 400.0 }))
}

impl Runner for Scripted {
    fn size(&self) -> usize {
        self.size
    }
    fn capacity(&self) -> usize {
        Params::MYRINET.capacity as usize
    }
    fn is_far(&self) -> bool {
        self.far
    }
    fn virtual_time(&self) -> bool {
        self.virtual_time
    }
    fn launch(&self) -> u32 {
        self.launch
    }
    fn beside(&self) -> &[Beside] {
        &self.beside
    }
    fn division(&self) -> Option<&'static Division> {
        Some(self.division)
    }
    fn run(&mut self, order: &Order) -> Result<Executed, Stop> {
        self.now += self.cost;
        self.events.push(Event::Ran(order.clone()));
        let done = (self.answer)(order)?;
        if self.timed {
            self.now += done.column(WHOLE).iter().sum::<f64>() * 1e-9;
        }
        Ok(done)
    }
    fn look(&mut self, order: &Order) -> Result<Option<Probe>, Stop> {
        assert!(order.probed);
        self.events.push(Event::Looked);
        Ok((self.look)())
    }
    fn delay(&self, ns: f64) -> Delay {
        Delay { iterations: 1, picoseconds: (ns * 1e3).round() as u64 }
    }
    fn time_delay(&mut self, delay: Delay, _: u32, samples: u32) -> Vec<f64> {
        let times = if self.delays.is_empty() { 1.0 } else { self.delays.remove(0) };
        vec![times * delay.picoseconds as f64 / 1e3; samples as usize]
    }
    fn keep(&mut self, kept: Kept) -> Result<(), Stop> {
        self.kept.push(kept);
        Ok(())
    }
    fn progress(&mut self, done: f64, doing: &str) -> Result<(), Stop> {
        self.events.push(Event::Said(done, doing.to_owned()));
        Ok(())
    }
    fn elapsed(&self) -> Duration {
        Duration::from_secs_f64(self.now)
    }
    fn ends(&self) -> [Duration; 2] {
        [self.usual, self.latest].map(Duration::from_secs_f64)
    }
    fn limit(&mut self, ends: [Duration; 2]) {
        [self.usual, self.latest] = ends.map(|end| end.as_secs_f64());
    }
    fn pause(&mut self, time: Duration) {
        self.events.push(Event::Paused(time));
    }
}
