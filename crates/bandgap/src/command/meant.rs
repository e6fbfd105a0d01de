//! What a word means that is no command: a test of another tool, a kernel, a transport, a file.

use std::path::Path;

use bandgap_launch::{Failure, Transport, usage};
use bandgap_record::read_logp_table;
use clap::error::{ContextKind, ErrorKind};
use clap::{CommandFactory, Error, Parser};

use super::Cli;
use super::comet::{APART, passing};
use super::fit::open;

/// A line for each command, with what people call what it does. Kernels and transports go by their own names, too.
const CALLED: &str = include_str!("meant.txt");

/// From this similarity on (Jaro), a word of at least so many letters is a misspelt name.
const MISSPELT: (f64, usize) = (0.85, 6);

/// The answer to a command line with a word that has a meaning elsewhere: the command for it.
pub fn answer(error: &Error) -> Option<Failure> {
    let words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let at = |kind| {
        let of = error.get(kind)?.to_string();
        words.iter().position(|word| word.split('=').next() == Some(&of))
    };
    let kinds =
        [ContextKind::InvalidSubcommand, ContextKind::InvalidValue, ContextKind::InvalidArg];
    let at = kinds.into_iter().find_map(at)?;
    // What an option takes is told by what reads it.
    if error.kind() == ErrorKind::ValueValidation && words[at - 1].starts_with('-') {
        return None;
    }
    let (before, word, after) = (&words[1..at], words[at].as_str(), &words[at + 1..]);
    let cli = Cli::command();
    let (command, before) = match before {
        [fit] if fit == "fit" && error.get(ContextKind::SuggestedSubcommand).is_none() => {
            (of_file(word).unwrap_or(format!("fit hockney {word}")), &[][..])
        }
        // A kernel's name.
        [of, ..] if cli.find_subcommand(of).is_some() => {
            (format!("{of} {}", called(word, &cli)?.split(' ').next_back()?), &before[1..])
        }
        _ => (of_file(word).or_else(|| called(word, &cli))?, before),
    };
    let others = before.iter().chain(after);
    let whole = others.fold(command.clone(), |whole, word| format!("{whole} {word}"));
    let takes = |line: &String| Cli::try_parse_from(format!("bandgap {line}").split(' ')).is_ok();
    let within = words.get(1).and_then(|of| cli.find_subcommand(of)).unwrap_or(&cli);
    let mut lines = [whole, command].into_iter().chain(called(word, within));
    let line = lines.find(takes)?;
    Some(usage!("understand {word}").hint(format!("the command for this: bandgap {line}")))
}

/// The command that reads this file or directory.
fn of_file(word: &str) -> Option<String> {
    let command = match Path::new(word) {
        path if path.is_dir() || path.ends_with("run.json") => "show",
        path if word.contains(".goal") && path.exists() => "simulate",
        path if !path.is_file() => return None,
        path if read_logp_table(open(path).ok()?).is_ok() => "fit logp",
        _ => "fit hockney",
    };
    Some(format!("{command} {word}"))
}

/// The command that is called this, or nearly this, unless a real command or option is as near.
fn called(word: &str, cli: &clap::Command) -> Option<String> {
    let near = |of: &str| strsim::jaro(&plain(word), &plain(of));
    let words = CALLED.lines().filter_map(|line| line.split_once(": "));
    let words = words.flat_map(|(command, all)| all.split(' ').map(move |of| (of, command)));
    let words = words.map(|(of, command)| (near(of), command.to_owned()));
    let kernels = passing().chain(APART).map(|of| (near(of), format!("comet {of}")));
    let over = Transport::named().map(|of| (near(&of.to_string()), format!("run -t {of}")));
    let all = words.chain(kernels).chain(over);
    let (best, command) = all.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let is_near = best == 1.0 || best >= MISSPELT.0 && word.len() >= MISSPELT.1;
    let options = cli.get_arguments().filter_map(clap::Arg::get_long);
    let mut real = cli.get_subcommands().map(clap::Command::get_name).chain(options);
    let over = if of_mpi(word) && command.starts_with("com") { " -t mpi" } else { "" };
    (is_near && !real.any(|of| near(of) >= best)).then(|| command + over)
}

/// What the names of MPI's calls and of the tests of MPI begin with.
const OF_MPI: [&str; 3] = ["osu_", "imb-", "mpi_"];

fn of_mpi(name: &str) -> bool {
    OF_MPI.iter().any(|suite| name.to_lowercase().starts_with(suite))
}

/// A name in small letters and digits alone, without the library's or suite's before it.
fn plain(name: &str) -> String {
    let small = name.trim_start_matches('-').to_lowercase();
    let rest = OF_MPI.iter().chain(&["ib_"]).find_map(|suite| small.strip_prefix(suite));
    rest.unwrap_or(&small).chars().filter(char::is_ascii_alphanumeric).collect()
}
