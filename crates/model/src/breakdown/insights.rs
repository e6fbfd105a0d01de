//! Sentences that follow from the numbers.

use std::collections::BTreeMap;

use bandgap_units::{Fraction, significant};

use super::divide::By;
use super::evaluate::Modelled;
use super::formula::Group;
use super::quotient::Off;
use super::stack::{Stack, StackError};

/// A question about a stack, whose answer is a sentence.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// How many times as long does one model take as another?
    Ratio {
        /// The one.
        of: String,
        /// The other.
        to: String,
    },
    /// What takes the most of a model?
    Most {
        /// The model.
        model: String,
        /// How it is divided.
        by: By,
        /// Of which components.
        only: Option<Group>,
    },
    /// How much of a model is another one?
    Share {
        /// The part.
        of: String,
        /// The whole.
        to: String,
    },
}

/// A part of a model.
struct Part {
    key: String,
    /// Of all that is divided.
    share: f64,
    /// The ends of its interval. It is itself where no component has a spread, and has none where the share may be
    /// anything.
    ends: (f64, f64),
}

/// What all parts together deviate by.
struct Deviating {
    /// Derivatives by given times.
    times: BTreeMap<usize, f64>,
    /// Whether one of these has a spread.
    known: bool,
    /// The square of the standard deviation.
    square: f64,
}

/// A share is more than half from here on, so that it is also written as more than 50 %.
const HALF: f64 = 0.5005;

impl Question {
    /// What is asked where nobody asks: what takes the most of each main model.
    pub fn usual(stack: &Stack) -> Vec<Question> {
        let main = stack.models().filter(|model| model.main);
        main.flat_map(|model| {
            [By::Category, By::Layer, By::Side].map(|by| Question::Most {
                model: model.name.clone(),
                by,
                only: None,
            })
        })
        .collect()
    }
}

impl Stack {
    /// The answer to a question: `None` where a model in it takes no time, or has but one part. `factor` is
    /// the number of standard deviations that an interval reaches to either side.
    ///
    /// # Errors
    /// A model in it does not exist.
    pub fn answer(&self, question: &Question, factor: f64) -> Result<Option<String>, StackError> {
        self.answer_of(&self.evaluated(&self.state())?, question, factor)
    }

    /// The same, from models that are evaluated: those of many questions once.
    ///
    /// # Errors
    /// A model in it does not exist.
    pub fn answer_of(
        &self,
        all: &[Modelled],
        question: &Question,
        factor: f64,
    ) -> Result<Option<String>, StackError> {
        let find = |name: &str| -> Result<(&str, &Modelled), StackError> {
            let at = self.model(name).ok_or_else(|| {
                StackError::new(name, format!("a question is about '{name}', which is no model"))
            })?;
            let title = self.models().nth(at).map_or("", |declared| declared.title());
            Ok((title, &all[at]))
        };
        Ok(match question {
            Question::Ratio { of, to } => {
                let ((one, of), (other, to)) = (find(of)?, find(to)?);
                self.quotient(of, to, factor)
                    .map(|(ratio, range)| ratio_text(one, other, ratio, range))
            }
            Question::Share { of, to } => {
                let ((part, of), (whole, to)) = (find(of)?, find(to)?);
                self.quotient(of, to, factor)
                    .map(|(share, range)| share_text(part, whole, share, range))
            }
            Question::Most { model, by, only } => {
                let (title, model) = find(model)?;
                let mut parts = self.shares(model, *by, *only, factor);
                for part in parts.iter_mut().filter(|_| *by == By::Component) {
                    if let Some(one) = self.component_named(&part.key) {
                        part.key = one.title().to_owned();
                    }
                }
                most_text(title, parts, *by, *only)
            }
        })
    }

    /// The parts of a model, as shares of all that is divided; none where that takes no time.
    fn shares(&self, model: &Modelled, by: By, only: Option<Group>, factor: f64) -> Vec<Part> {
        let times = self.divided(model, &self.state(), by, only);
        let whole: f64 = times.iter().map(|(_, time)| time).sum();
        if whole <= 0.0 {
            return Vec::new();
        }
        let uses = self.divided_uses(model, by, only);
        let sources: Vec<BTreeMap<usize, f64>> =
            uses.iter().map(|(_, uses)| self.given_in(uses)).collect();
        let mut times_of_all: BTreeMap<usize, f64> = BTreeMap::new();
        for (from, times) in sources.iter().flatten() {
            *times_of_all.entry(*from).or_default() += times;
        }
        let deviation = self.deviation(&times_of_all);
        let square = deviation.map_or(0.0, |deviation| deviation * deviation);
        let of_all = Deviating { times: times_of_all, known: deviation.is_some(), square };
        let part = |(at, (key, time)): (usize, (String, f64))| {
            let share = time / whole;
            let off = sources.get(at).and_then(|own| self.share_off(own, &of_all, share, whole));
            let any = (f64::NEG_INFINITY, f64::INFINITY);
            let ends = off.map_or((share, share), |off| off.ends(share, factor).unwrap_or(any));
            Part { key, share, ends }
        };
        times.into_iter().enumerate().map(part).collect()
    }

    /// How far own/all may be off, both by their derivatives by given times. The many times that a small part has
    /// nothing of are summed up for all parts alike.
    fn share_off(
        &self,
        own: &BTreeMap<usize, f64>,
        all: &Deviating,
        share: f64,
        whole: f64,
    ) -> Option<Off> {
        all.known.then_some(())?;
        let square = |from: &usize, times: f64| {
            self.spread(*from).map_or(0.0, |spread| (times * spread).powi(2))
        };
        let of_all = |from| all.times.get(from).copied().unwrap_or(0.0);
        let sum = if 2 * own.len() > all.times.len() {
            let of = |from| own.get(from).copied().unwrap_or(0.0);
            all.times.iter().map(|(from, all)| square(from, of(from) - share * all)).sum::<f64>()
        } else {
            let apart = own.keys().map(|from| square(from, of_all(from))).sum::<f64>();
            let within = own.iter().map(|(from, own)| square(from, own - share * of_all(from)));
            share * share * (all.square - apart).max(0.0) + within.sum::<f64>()
        };
        let common = self.covariance(own, &all.times) - share * all.square;
        Some(Off {
            deviation: sum.sqrt() / whole,
            of_whole: all.square.sqrt() / whole,
            common: common / whole / whole,
        })
    }

    /// Derivatives by given times, of what has these by components.
    fn given_in(&self, uses: &BTreeMap<usize, f64>) -> BTreeMap<usize, f64> {
        let mut given: BTreeMap<usize, f64> = BTreeMap::new();
        for (component, times) in uses {
            for (from, of) in self.sources(*component) {
                *given.entry(from).or_default() += times * of;
            }
        }
        given
    }

    /// One model over another, with its interval where components have spreads.
    fn quotient(
        &self,
        of: &Modelled,
        to: &Modelled,
        factor: f64,
    ) -> Option<(f64, Option<(f64, f64)>)> {
        if !of.is_time || !to.is_time || to.value <= 0.0 {
            return None;
        }
        let ratio = of.value / to.value;
        let mut sources: BTreeMap<usize, f64> = BTreeMap::new();
        for (from, times) in &of.sources {
            *sources.entry(*from).or_default() += times / to.value;
        }
        for (from, times) in &to.sources {
            *sources.entry(*from).or_default() -= times * ratio / to.value;
        }
        let reach = self.deviation(&sources).map(|deviation| deviation * factor);
        Some((ratio, reach.map(|reach| (ratio - reach, ratio + reach))))
    }
}

fn ratio_text(one: &str, other: &str, ratio: f64, range: Option<(f64, f64)>) -> String {
    let written = |number| significant(number, 3);
    let between = range.map_or(String::new(), |(low, high)| {
        format!(" (interval {} to {})", written(low), written(high))
    });
    // Below one the other way round reads better.
    if ratio >= 1.0 || ratio <= 0.0 {
        format!("{} takes {} times as long as {other}{between}.", begun(one), written(ratio))
    } else {
        let between = range.filter(|(low, _)| *low > 0.0).map_or(String::new(), |(low, high)| {
            format!(" (interval {} to {})", written(1.0 / high), written(1.0 / low))
        });
        format!("{} takes {} times as long as {one}{between}.", begun(other), written(1.0 / ratio))
    }
}

fn share_text(part: &str, whole: &str, share: f64, range: Option<(f64, f64)>) -> String {
    let size_of = |share: f64| match share {
        share if share < 1.0 / 3.0 => ", less than a third",
        share if share < 0.5 => ", less than half",
        share if share <= 2.0 / 3.0 => ", at least half",
        _ => ", more than two thirds",
    };
    // Said of the whole interval or not at all.
    let (low, high) = range.unwrap_or((share, share));
    let size = if size_of(low) == size_of(high) { size_of(share) } else { "" };
    let between = range.map_or(String::new(), |(low, high)| {
        format!(" (interval {} to {})", Fraction(low), Fraction(high))
    });
    format!(
        "{} is {}{between} of {whole}{size}; the rest is {}.",
        begun(part),
        Fraction(share),
        Fraction(1.0 - share)
    )
}

fn most_text(title: &str, mut parts: Vec<Part>, by: By, only: Option<Group>) -> Option<String> {
    if parts.len() < 2 {
        return None;
    }
    parts.sort_by(|a, b| b.share.total_cmp(&a.share));
    let share = |part: &Part| format!("{} {}", spoken(&part.key), Fraction(part.share));
    let of = match only {
        None | Some(Group::All) => title.to_owned(),
        Some(Group::Category(one)) => format!("the {} time in {title}", spoken(&one.to_string())),
        Some(Group::Layer(one)) => format!("the {} time in {title}", spoken(&one.to_string())),
        Some(Group::Side(one)) => format!("the time on the {one} in {title}"),
    };
    let (first, rest) = parts.split_first()?;
    if first.ends.0 > HALF {
        let next = rest.first().map(|next| format!(", then {}", share(next))).unwrap_or_default();
        return Some(format!(
            "Most of {of} is {}: {}{next}.",
            placed(by, &first.key),
            Fraction(first.share)
        ));
    }
    let what = By::ALL.iter().find(|(one, _)| *one == by).map_or("part", |(_, name)| name);
    let may_be_most = |part: &Part| part.ends.1 > HALF;
    // Then all shares may be anything.
    let why = match first.ends.1.is_finite() {
        true => String::new(),
        false => format!(", as the interval of {of} holds 0"),
    };
    let told = |part: &Part| match part.ends {
        (low, high) if may_be_most(part) && why.is_empty() => {
            format!("{} (interval {} to {})", share(part), Fraction(low), Fraction(high))
        }
        _ => share(part),
    };
    let listed: Vec<String> = parts.iter().take(4).map(told).collect();
    let listed = listed.join(", ") + if parts.len() > 4 { ", …" } else { "" };
    Some(match parts.iter().any(may_be_most) {
        true => format!("Whether any {what} takes more than half of {of} is open{why}: {listed}."),
        false => format!("No {what} takes more than half of {of}: {listed}."),
    })
}

/// A part as what the most of something is.
fn placed(by: By, key: &str) -> String {
    match (by, key) {
        (By::Side, "initiator" | "target") => format!("spent at the {key}"),
        (By::Side, "both") => "spent on either node alike".to_owned(),
        (By::Side, "network") => "spent between the nodes".to_owned(),
        _ => spoken(key).to_owned(),
    }
}

/// What readers call something, and its name where that is another and not in it already.
pub fn called(title: &str, name: &str) -> String {
    if title == name || title.contains(&format!("({name})")) {
        title.to_owned()
    } else {
        format!("{title} ({name})")
    }
}

/// Words of a table as they are written in a sentence.
pub fn spoken(word: &str) -> &str {
    match word {
        "cpu" => "CPU",
        "io" => "I/O",
        "hlp" => "HLP",
        "llp" => "LLP",
        other => other,
    }
}

/// A text with a capital at its begin.
pub fn begun(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    first + letters.as_str()
}
