//! `fuzz`: hunts for inputs that a reader does not withstand.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use std::{fs, io};

use bandgap_fuzz::{Fault, Hunted, Inputs, Limits, TARGETS, Target, hunt, target};
use bandgap_units::{Bytes, Ns};
use clap::Parser;

/// An input that is still being read after so many seconds ends the hunt, which says its number.
const ENDLESS: u32 = 120;

/// Hunts for inputs that make a reader panic, take over a second, or take over a GiB.
///
/// Such an input is kept in a file. Once its reader is mended it belongs into crates/fuzz/corpus, in the folder of
/// the target: a test reads all of these.
#[derive(Debug, Parser)]
#[command(after_help = "Examples:
  fuzz                                     all readers, 200 000 inputs
  fuzz --inputs 10000000 --seed 7
  fuzz --target run-file --seconds 60
  fuzz --target run-file --seed 7 --first 1234 --inputs 1
  fuzz --target run-file found/run-file-…  a file, as it is")]
struct Arguments {
    /// One reader
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
    /// Inputs of all readers together
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    inputs: u64,
    /// What inputs are drawn from
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Number of the first input
    #[arg(long, value_name = "N", default_value_t = 0)]
    first: u64,
    /// Longest time for each reader
    #[arg(long, value_name = "S")]
    seconds: Option<u64>,
    /// Where inputs are kept that do harm
    #[arg(long, value_name = "DIR", default_value = "found")]
    found: PathBuf,
    /// Write a reader's examples into a directory, and hunt for nothing
    #[arg(long, value_name = "DIR", requires = "target")]
    examples: Option<PathBuf>,
    /// Files to read in place of drawn inputs
    #[arg(requires = "target")]
    files: Vec<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("fuzz: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether every reader withstood everything.
fn run(arguments: &Arguments) -> io::Result<bool> {
    let unknown = |name: &String| {
        let all: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        io::Error::other(format!("there is no reader '{name}'; there are {}", all.join(", ")))
    };
    let chosen: Vec<&Target> = match &arguments.target {
        None => TARGETS.iter().collect(),
        Some(name) => vec![target(name).ok_or_else(|| unknown(name))?],
    };
    if let ([only], Some(into)) = (chosen.as_slice(), &arguments.examples) {
        return examples(only, into).map(|()| true);
    }
    if let ([only], false) = (chosen.as_slice(), arguments.files.is_empty()) {
        return files(only, &arguments.files);
    }
    let watch = Watch::start();
    let shares: u64 = chosen.iter().map(|target| target.share).sum();
    println!(
        "{:16}{:>10}{:>10}{:>10}{:>8}{:>12}{:>12}",
        "reader", "inputs", "accepted", "refused", "faults", "slowest", "most memory"
    );
    let mut sum = Hunted::default();
    for target in chosen {
        let inputs = Inputs::of(target, arguments.seed)?;
        let limits = Limits {
            first: arguments.first,
            inputs: (u128::from(arguments.inputs) * u128::from(target.share) / u128::from(shares))
                as u64,
            until: arguments.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds)),
        };
        let hunted = hunt(target, &inputs, &limits, |number| watch.begins(target.name, number));
        watch.ended();
        line(target.name, &hunted);
        for (number, fault) in &hunted.faults {
            keep(arguments, target, *number, &inputs.get(*number), fault)?;
        }
        sum.inputs += hunted.inputs;
        sum.accepted += hunted.accepted;
        sum.slowest = sum.slowest.max(hunted.slowest);
        sum.largest = sum.largest.max(hunted.largest);
        sum.faults.extend(hunted.faults);
    }
    line("all", &sum);
    Ok(sum.faults.is_empty())
}

fn line(name: &str, hunted: &Hunted) {
    let panics =
        hunted.faults.iter().filter(|(_, fault)| matches!(fault, Fault::Panic(_))).count() as u64;
    let refused = hunted.inputs - hunted.accepted - panics;
    let (slowest, most) = (Ns(hunted.slowest.0.as_nanos() as f64), rounded(hunted.largest.0));
    let Hunted { inputs, accepted, faults, .. } = hunted;
    println!(
        "{name:16}{inputs:>10}{accepted:>10}{refused:>10}{:>8}{:>12}{:>12}",
        faults.len(),
        slowest.to_string(),
        most.to_string()
    );
}

fn rounded(bytes: usize) -> Bytes {
    let unit = if bytes < 1 << 20 { 1 << 10 } else { 1 << 20 };
    Bytes((bytes as u64).next_multiple_of(unit))
}

/// Keeps an input, and says how to try it again.
fn keep(
    arguments: &Arguments,
    target: &Target,
    number: u64,
    input: &[u8],
    fault: &Fault,
) -> io::Result<()> {
    fs::create_dir_all(&arguments.found)?;
    let (name, seed) = (target.name, arguments.seed);
    let path = arguments.found.join(format!("{name}-{seed}-{number}"));
    fs::write(&path, input)?;
    println!(
        "{name}: input {number} of {} bytes {}\n  again: fuzz --target {name} {}\n  or:    fuzz --target {name} --seed \
         {seed} --first {number} --inputs 1",
        input.len(),
        what(fault),
        path.display()
    );
    Ok(())
}

fn what(fault: &Fault) -> String {
    match fault {
        Fault::Panic(said) => format!("makes it panic: {said}"),
        Fault::Slow(took) => format!("takes {}", Ns(took.as_nanos() as f64)),
        Fault::Large(bytes) => format!("takes {}", rounded(*bytes)),
    }
}

/// Writes a reader's examples, each into a file.
fn examples(target: &Target, into: &Path) -> io::Result<()> {
    fs::create_dir_all(into)?;
    let inputs = Inputs::of(target, 0)?;
    (0..inputs.examples()).try_for_each(|number| {
        fs::write(into.join(format!("example-{number}")), inputs.get(number))
    })
}

/// Reads files.
fn files(target: &Target, files: &[PathBuf]) -> io::Result<bool> {
    let mut fine = true;
    for path in files {
        let named =
            |path: &Path, error| io::Error::other(format!("read {}: {error}", path.display()));
        let input = fs::read(path).map_err(|error| named(path, error))?;
        let tried = bandgap_fuzz::try_one(target, &input);
        let said = match (&tried.fault, tried.verdict) {
            (Some(fault), _) => what(fault),
            (None, verdict) => format!("{verdict:?}"),
        };
        let took = Ns(tried.took.as_nanos() as f64);
        println!("{}: {said}; {took}, {}", path.display(), rounded(tried.bytes));
        fine &= tried.fault.is_none();
    }
    Ok(fine)
}

/// Notices an input that is never done with.
struct Watch {
    number: Arc<AtomicU64>,
    name: Arc<Mutex<&'static str>>,
}

/// Nothing is under way.
const NONE: u64 = u64::MAX;

impl Watch {
    fn start() -> Self {
        let watch = Self { number: Arc::new(AtomicU64::new(NONE)), name: Arc::default() };
        let (number, name) = (Arc::clone(&watch.number), Arc::clone(&watch.name));
        thread::spawn(move || {
            // Seconds in which this thread ran: who is stopped as a whole is not slow.
            let (mut last, mut seconds) = (NONE, 0);
            loop {
                thread::sleep(Duration::from_secs(1));
                let now = number.load(Ordering::Relaxed);
                seconds = if now == NONE || now != last { 0 } else { seconds + 1 };
                last = now;
                if seconds > ENDLESS {
                    let name = name.lock().map_or("?", |name| *name);
                    eprintln!("fuzz: {name}: input {now} is never done with; see --first");
                    std::process::exit(1);
                }
            }
        });
        watch
    }

    fn begins(&self, name: &'static str, number: u64) {
        if self.number.swap(number, Ordering::Relaxed) == NONE
            && let Ok(mut named) = self.name.lock()
        {
            *named = name;
        }
    }

    fn ended(&self) {
        self.number.store(NONE, Ordering::Relaxed);
    }
}
