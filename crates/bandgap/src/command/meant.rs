//! What a word means that is no command: a test of another tool, a kernel, a transport, a file.

use std::path::Path;

use bandgap_launch::{Failure, Transport, usage};
use bandgap_record::read_logp_table;
use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Error, Parser};

use super::Cli;
use super::comet::{APART, passing};
use super::fit::open;

/// Commands, and what people call what they do. Kernels and transports go by their own names, too.
const CALLED: [(&str, &str); 13] = [
    ("comms1", "latency lat pingpong ping roundtrip rtt bandwidth bw throughput multilat sendbw"),
    ("comms2", "bibw bidirectional sendrecv"),
    ("comms3", "mbwmr multibw aggregate"),
    ("comet broadcast", "bcast ibcast"),
    ("comet global_sum", "reduce sum"),
    ("signature", "logp loggp overhead gap parameters"),
    ("bulk", "put get rma putlat getlat putbw getbw writelat writebw readlat readbw"),
    ("floor", "memcpy copy cacheline syscall udp"),
    ("topology", "numa lstopo hwloc cpus cores"),
    ("doctor", "check health diagnose"),
    ("show LAST", "report results list plot view last"),
    ("fit hockney FILE", "hockney osu imb netpipe perftest import parse"),
    ("run", "measure bench benchmark test start all"),
];

/// From this similarity on (Jaro), a word of at least so many letters is a misspelt name.
const MISSPELT: (f64, usize) = (0.85, 6);

/// The answer to a command line with a word that has a meaning elsewhere: the command for it.
pub fn answer(error: &Error) -> Option<Failure> {
    let words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let at = |kind| match error.get(kind)? {
        ContextValue::String(of) => {
            words.iter().position(|word| word.split('=').next() == Some(of))
        }
        _ => None,
    };
    let whole =
        [ContextKind::InvalidSubcommand, ContextKind::InvalidValue, ContextKind::InvalidArg];
    let at = whole.into_iter().find_map(at)?;
    let (before, word, after) = (&words[1..at], words[at].as_str(), &words[at + 1..]);
    let cli = Cli::command();
    let (command, before) = match before {
        [fit] if fit == "fit" && error.get(ContextKind::SuggestedSubcommand).is_none() => {
            (of_file(word).unwrap_or(format!("fit hockney {word}")), &[][..])
        }
        // A kernel's name.
        [of, ..] if cli.find_subcommand(of).is_some() => {
            let kernel = called(word, &cli)?;
            (format!("{of} {}", kernel.split(' ').next_back()?), &before[1..])
        }
        _ => (of_file(word).or_else(|| called(word, &cli))?, before),
    };
    let others = before.iter().chain(after);
    let whole = others.fold(command.clone(), |whole, word| format!("{whole} {word}"));
    let takes = |line: &String| Cli::try_parse_from(format!("bandgap {line}").split(' ')).is_ok();
    let line = [whole, command].into_iter().find(takes)?;
    Some(usage!("understand {word}").hint(format!("the command for this: bandgap {line}")))
}

/// The command that reads this file or directory.
fn of_file(word: &str) -> Option<String> {
    let path = Path::new(word);
    let command = match () {
        () if !path.exists() => return None,
        () if path.is_dir() || word.ends_with("run.json") => "show",
        () if word.contains(".goal") => "simulate",
        () if read_logp_table(open(path).ok()?).is_ok() => "fit logp",
        () => "fit hockney",
    };
    Some(format!("{command} {word}"))
}

/// The command that is called this, or nearly this, unless a real command or option is as near.
fn called(word: &str, cli: &clap::Command) -> Option<String> {
    let near = |of: &str| strsim::jaro(&plain(word), &plain(of));
    let words = |(command, all): (&str, &'static str)| {
        let command = command.to_owned();
        all.split(' ').map(move |of| (near(of), command.clone()))
    };
    let kernels = passing().chain(APART).map(|of| (near(of), format!("comet {of}")));
    let over = Transport::named().map(|of| (near(&of.to_string()), format!("run -t {of}")));
    let all = CALLED.into_iter().flat_map(words).chain(kernels).chain(over);
    let (best, command) = all.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let is_near = best == 1.0 || best >= MISSPELT.0 && word.len() >= MISSPELT.1;
    let options = cli.get_arguments().filter_map(clap::Arg::get_long);
    let mut real = cli.get_subcommands().map(clap::Command::get_name).chain(options);
    (is_near && !real.any(|of| near(of) >= best)).then_some(command)
}

/// A name in small letters and digits alone, without the library's or suite's before it.
fn plain(name: &str) -> String {
    let small = name.trim_start_matches('-').to_lowercase();
    let suites = ["osu_", "imb-", "mpi_", "ib_"];
    let rest = suites.iter().find_map(|suite| small.strip_prefix(suite));
    rest.unwrap_or(&small).chars().filter(char::is_ascii_alphanumeric).collect()
}
