//! Commands that have no use for options of measurements: these are hidden in their help, and refused.

use bandgap_launch::{Exit, Failure};
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

/// Where results go.
const OUTPUT: [&str; 4] = ["out", "no_save", "json", "quiet"];

/// A command by its names, the options that it has a use for, and those of output, if it has results. The others
/// take all options.
type Uses = (&'static [&'static str], &'static [&'static str], bool);

/// The option of a command with which it does not measure, and what it then has a use for.
const USES_WITH: [(&str, Uses); 2] = [("from", OF_A_TABLE), ("pcie_trace", OF_A_TABLE)];
const OF_A_TABLE: Uses = (&["breakdown"], &["precision", "confidence", "strict"], true);

const USES: [Uses; 8] = [
    (&["doctor"], &["ranks", "cores", "confidence", "wait", "deadline", "seed"], true),
    (&["topology"], &[], true),
    (&["fit", "logp"], &["precision", "confidence", "seed", "strict"], true),
    (&["fit", "hockney"], &["precision", "confidence", "strict"], true),
    // What one of the two has a use for.
    (&["fit"], &["precision", "confidence", "seed", "strict"], true),
    (&["whatif"], &["precision", "confidence", "strict"], true),
    (&["completions"], &[], false),
    (&["man"], &[], false),
];

/// The options that all commands take and `uses` has no use for, by their identifiers.
fn unused(program: &Command, (_, used, has_results): &Uses) -> Vec<clap::Arg> {
    let is_used = |id: &str| used.contains(&id) || *has_results && OUTPUT.contains(&id);
    let all = program.get_arguments().filter(|option| option.is_global_set());
    all.filter(|option| !is_used(option.get_id().as_str())).cloned().collect()
}

/// The program with these options hidden where they have no use.
pub(super) fn hidden(program: Command) -> Command {
    USES.iter().fold(program, |program, uses| {
        let options = unused(&program, uses);
        hide(program, uses.0, &options)
    })
}

fn hide(command: Command, path: &[&str], options: &[clap::Arg]) -> Command {
    match path {
        // Of its own, they take the place of those of all commands.
        [] => command.args(options.iter().map(|option| option.clone().hide(true))),
        [name, rest @ ..] => command.mut_subcommand(name, |below| hide(below, rest, options)),
    }
}

/// Refuses options that were given to a command that has no use for them.
///
/// # Errors
/// There is such an option.
pub(super) fn check(program: &Command, given: &ArgMatches) -> Result<(), Failure> {
    let with = USES_WITH.iter().map(|(with, uses)| (Some(*with), uses));
    for (with, uses) in USES.iter().map(|uses| (None, uses)).chain(with) {
        let below = uses.0.iter().try_fold(given, |given, name| given.subcommand_matches(name));
        let Some(given) = below else { continue };
        if with.is_some_and(|with| given.value_source(with) != Some(ValueSource::CommandLine)) {
            continue;
        }
        let is_given = |option: &clap::Arg| {
            given.value_source(option.get_id().as_str()) == Some(ValueSource::CommandLine)
        };
        let refused: Vec<String> = unused(program, uses)
            .iter()
            .filter(|option| is_given(option))
            .filter_map(|option| Some(format!("--{}", option.get_long()?)))
            .collect();
        if !refused.is_empty() {
            let them = if refused.len() == 1 { "it" } else { "them" };
            let (options, with) =
                (refused.join(", "), with.map(|with| format!(" --{}", with.replace('_', "-"))));
            let name = uses.0.join(" ") + &with.unwrap_or_default();
            let what = format!("use {options}: {name} has no use for {them}");
            return Err(Failure::new(Exit::Usage, what).hint(format!("leave {them} out")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::command::{Cli, parsed};

    #[test]
    fn commands_and_options_are_those_that_there_are() {
        let program = Cli::command();
        let globals: Vec<&str> =
            program.get_arguments().map(|option| option.get_id().as_str()).collect();
        for (path, used, _) in USES {
            let find = |command, name: &&str| Command::find_subcommand(command, name);
            assert!(path.iter().try_fold(&program, find).is_some(), "{path:?}");
            for option in used.iter().chain(&OUTPUT) {
                assert!(globals.contains(option), "{option}");
            }
        }
    }

    #[test]
    fn what_has_no_use_is_refused_by_name_wherever_it_stands() {
        let told = |line: &str| {
            let words = line.split_whitespace().map(std::ffi::OsString::from);
            parsed(words).map(|_| ()).map_err(|failure| (failure.exit, failure.what))
        };
        for (line, what) in [
            (
                "bandgap topology -n 3 --time-budget 1s --strict",
                "use --ranks, --time-budget, --strict: topology has no use for them",
            ),
            (
                "bandgap fit logp - --transport tcp -n 8 --launches 5",
                "use --transport, --ranks, --launches: fit logp has no use for them",
            ),
            ("bandgap fit hockney - --seed 7", "use --seed: fit hockney has no use for it"),
            (
                "bandgap completions bash --time-budget 3s",
                "use --time-budget: completions has no use for it",
            ),
            (
                "bandgap breakdown --from t.csv -n 3 --transport tcp",
                "use --transport, --ranks: breakdown --from has no use for them",
            ),
            ("bandgap --out here man", "use --out: man has no use for it"),
            ("bandgap doctor --precision 1%", "use --precision: doctor has no use for it"),
        ] {
            assert_eq!(told(line), Err((Exit::Usage, what.to_owned())), "{line}");
        }
        for line in [
            "bandgap topology --json - -q",
            "bandgap fit logp - --strict --confidence 90% --seed 7 --out kept",
            "bandgap doctor -n 3 --wait block",
            "bandgap signature --time-budget 1s --strict -n 3",
            "bandgap breakdown --transport tcp -n 2 --launches 3",
            "bandgap breakdown --from t.csv --strict --confidence 90% --out kept",
            "bandgap man",
        ] {
            assert_eq!(told(line), Ok(()), "{line}");
        }
    }

    #[test]
    fn help_lists_what_has_a_use() {
        let help = |path: &[&str]| {
            let mut program = hidden(Cli::command());
            program.build();
            let below = path
                .iter()
                .try_fold(&mut program, |command, name| command.find_subcommand_mut(name));
            below.unwrap().render_help().to_string()
        };
        let topology = help(&["topology"]);
        assert!(topology.contains("--json") && !topology.contains("Measurement"), "{topology}");
        let fit = help(&["fit", "logp"]);
        assert!(fit.contains("--precision") && !fit.contains("--launches"), "{fit}");
        let fits = help(&["fit"]);
        assert!(fits.contains("--precision") && fits.contains("--seed"), "{fits}");
        for unused in [
            "--transport",
            "--ranks",
            "--cores",
            "--time-budget",
            "--launches",
            "--wait",
            "--check",
        ] {
            assert!(!fits.contains(unused), "{unused}\n{fits}");
        }
        let man = help(&["man"]);
        assert!(!man.contains("--json") && !man.contains("--ranks"), "{man}");
        assert!(help(&["signature"]).contains("--launches") && help(&[]).contains("--launches"));
    }
}
