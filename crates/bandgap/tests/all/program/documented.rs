//! Help, manual and documents against the program.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::subject::Workdir;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn document(name: &str) -> String {
    let path = root().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The commands that a help text lists.
fn commands(help: &str) -> Vec<String> {
    let lines = help.split("Examples:\n").next().unwrap().lines();
    // Options begin with a dash, arguments with a bracket, and what is wrapped is indented further.
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names = names.filter(|name| name.starts_with(|of: char| of.is_ascii_lowercase()));
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn every_commands_help_has_examples() {
    let place = Workdir::new();
    let mut open = vec![Vec::<String>::new()];
    let mut seen = 0;
    while let Some(path) = open.pop() {
        let help = place.run(path.iter().map(String::as_str).chain(["--help"])).ends(0).stdout;
        let words = format!("bandgap {}", path.join(" "));
        assert!(help.contains("Examples:\n"), "{words} --help has no examples:\n{help}");
        let example = help.split_once("Examples:\n").unwrap().1.trim_start();
        assert!(example.starts_with(words.trim_end()), "{words}: {example}");
        let short = place.run(path.iter().map(String::as_str).chain(["-h"])).ends(0).stdout;
        assert!(short.contains("Examples:\n") && short.len() <= help.len(), "{words}: {short}");
        seen += 1;
        for name in commands(&help) {
            open.push(path.iter().cloned().chain([name]).collect());
        }
    }
    assert!(seen >= 24, "only {seen} commands were found");
    // In groups, of which none is empty.
    let help = place.run(["--help"]).ends(0).stdout;
    let lines: Vec<&str> = help.lines().collect();
    let is_group = |two: &&[&str]| {
        two[0].ends_with(':') && !two[0].starts_with(' ') && !commands(two[1]).is_empty()
    };
    assert!(lines.windows(2).filter(is_group).count() >= 5, "{help}");
}

#[test]
fn manual_and_completions_name_the_commands() {
    let place = Workdir::new();
    let listed = commands(&place.run(["--help"]).ends(0).stdout);
    let manual = place.run(["man"]).ends(0).stdout;
    assert!(manual.contains(".TH bandgap 1"), "{manual}");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = place.run(["completions", shell]).ends(0).stdout;
        for command in &listed {
            assert!(manual.contains(command.as_str()), "the manual lacks {command}");
            assert!(script.contains(command.as_str()), "{shell} lacks {command}");
        }
        assert!(script.contains("time-budget"), "{shell} lacks options");
        let own = ["agent", "take-up", "bandgap-rank", "bandgap__rank", "'rank'"];
        assert!(!own.iter().any(|own| script.contains(own)), "{shell} offers what nobody may call");
    }
    place.run(["man", "pages/man1"]).ends(0);
    let pages = place.command("ls").arg("pages/man1").output().unwrap();
    let pages = String::from_utf8(pages.stdout).unwrap();
    let pages = pages.lines().filter_map(|page| page.strip_prefix("bandgap-")?.strip_suffix(".1"));
    let of_commands = |page: &&str| !page.contains("help") && !page.starts_with("fit-");
    let mut sorted = listed.clone();
    sorted.sort();
    assert_eq!(sorted, pages.filter(of_commands).collect::<Vec<_>>(), "help, and the pages");
    let page = |of: &str| std::fs::read_to_string(place.path("pages/man1").join(of)).unwrap();
    for command in listed.iter().map(String::as_str).chain(["fit hockney", "fit logp"]) {
        let page = page(&format!("bandgap-{}.1", command.replace(' ', "-"))).replace('\\', "");
        let help = place.run(command.split(' ').chain(["--help"])).ends(0).stdout;
        let options = help.split_whitespace().filter(|word| word.starts_with("--"));
        for option in options.map(|word| word.split(['[', ',', ')', '.', ';', '=']).next().unwrap())
        {
            assert!(page.contains(option), "{command}: the manual page lacks {option}");
        }
    }
    // An explanation that `-h` leaves out.
    assert!(page("bandgap-comms1.1").contains("Keep no files"));
    assert!(place.run(["--version"]).ends(0).stdout.starts_with("bandgap "));
}

#[test]
fn exit_codes_are_documented() {
    let text = document("docs/exit-codes.md");
    let rows = text.lines().filter_map(|line| {
        let mut cells = line.trim().strip_prefix('|')?.split('|').map(|cell| cell.trim());
        let code = cells.next()?.trim_matches('`').parse::<u8>().ok()?;
        Some((code, cells.next()?.trim_matches('`').to_owned()))
    });
    // Of several codes the one furthest down is used.
    let documented: Vec<(u8, String)> = rows.collect();
    let real: Vec<(u8, String)> = bandgap_launch::Exit::ALL
        .iter()
        .map(|(_, code, name)| (*code, (*name).to_owned()))
        .collect();
    assert_eq!(documented, real, "left: docs/exit-codes.md, right: the program");
}

/// A fenced block: what follows the fence, and the lines.
struct Block {
    info: String,
    lines: Vec<String>,
    at: usize,
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut inside = false;
    for (number, line) in (1..).zip(text.lines()) {
        match line.trim_start().strip_prefix("```") {
            Some(_) if inside => inside = false,
            Some(info) => {
                inside = true;
                blocks.push(Block { info: info.trim().to_owned(), lines: Vec::new(), at: number });
            }
            None if inside => blocks.last_mut().unwrap().lines.push(line.to_owned()),
            None => {}
        }
    }
    blocks
}

/// The command with a budget so small that it ends soon, whatever it says itself, and in one launch.
fn hurried(command: &str) -> String {
    const BUDGET: &str = "--time-budget";
    const UNHURRIED: &str =
        "doctor topology fit whatif simulate export completions show compare report man";
    let mut words: Vec<&str> = command.split(' ').collect();
    let divides = words.get(1) == Some(&"breakdown");
    let given = ["--from", "--pcie-trace"].iter().any(|option| words.contains(option));
    // These measure no longer than they do, and take no budget.
    let is_virtual = ["-t sim:", "--against"].iter().any(|of| command.contains(of));
    if is_virtual
        || divides && given
        || words.get(1).is_some_and(|name| UNHURRIED.split(' ').any(|of| of == *name))
    {
        return command.to_owned();
    }
    // What a later command takes up must be there: a breakdown's rounds are longer than others.
    let budget = if divides { "3s" } else { "300ms" };
    if let Some(at) = words.iter().position(|word| *word == BUDGET) {
        words[at + 1] = budget;
        return words.join(" ");
    }
    // Options come after the command's name; where there is none, first.
    let at =
        if words.get(1).is_some_and(|word| !word.starts_with('-') && *word != "|") { 2 } else { 1 };
    words.splice(at..at, [BUDGET, budget]);
    if at == 2 && !command.contains("sim:") && !words.contains(&"--launches") {
        words.splice(at..at, ["--launches", "1"]);
    }
    words.join(" ")
}

/// Commands of a `sh` block: lines joined where they end in a backslash, comments left out.
fn shell_commands(block: &Block) -> Vec<String> {
    let joined = block.lines.join("\n").replace("\\\n", " ");
    let lines = joined.lines().map(|line| line.split(" #").next().unwrap_or("").trim().to_owned());
    lines.filter(|line| line == "bandgap" || line.starts_with("bandgap ")).collect()
}

/// Commands of a `console` block with the output that is shown.
fn dialogue(block: &Block) -> Vec<(String, String)> {
    let mut dialogue: Vec<(String, String)> = Vec::new();
    for line in &block.lines {
        match (line.strip_prefix("$ "), dialogue.last_mut()) {
            (Some(command), _) => dialogue.push((command.to_owned(), String::new())),
            (None, Some((_, output))) => *output += &format!("{line}\n"),
            (None, None) => panic!("line {}: a console block begins with $", block.at),
        }
    }
    dialogue
}

fn trimmed(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_end().to_owned()
}

/// What goes to standard output, or where there is nothing, to standard error.
fn shown(place: &Workdir, command: &str) -> String {
    let finished = place.shell(command);
    trimmed(if finished.stdout.is_empty() { &finished.stderr } else { &finished.stdout })
}

#[test]
fn the_documents_commands_work() {
    let mut found = 0;
    for name in ["README.md", "GUIDE.md"] {
        // A document's commands may build on one another.
        let place = Workdir::new();
        // What takes up a run of too little has nothing to go on with.
        let mut too_little: Vec<String> = Vec::new();
        symlink(root().join("docs"), place.path("docs")).unwrap();
        for block in blocks(&document(name)) {
            let whence = format!("{name}, block at line {}", block.at);
            match block.info.as_str() {
                "sh" => {
                    for command in shell_commands(&block) {
                        found += 1;
                        let finished = place.shell(&hurried(&command));
                        let code = finished.code;
                        let takes_up = too_little.iter().any(|name| command.contains(name));
                        let is_right =
                            matches!(code, Some(0 | 1 | 8)) || takes_up && code == Some(3);
                        assert!(is_right, "{whence}: {command}\n{finished:#?}");
                        if matches!(code, Some(3 | 8)) {
                            let mut words = command.split_whitespace();
                            let out = words.find(|word| *word == "--out").and(words.next());
                            too_little.push(out.unwrap_or("LAST").to_owned());
                        }
                    }
                }
                "console" => {
                    for (command, expected) in dialogue(&block) {
                        found += 1;
                        let real = shown(&place, &command);
                        assert_eq!(trimmed(&expected), real, "{whence}: {command}");
                    }
                }
                _ => {}
            }
        }
    }
    assert!(found >= 10, "only {found} commands were found");
}

#[test]
fn the_code_in_documents_is_code_that_is_compiled() {
    let lines = |text: &str| -> Vec<String> {
        let lines = text.lines().map(str::trim);
        lines.filter(|line| !line.is_empty() && !line.starts_with("// …")).map(Into::into).collect()
    };
    let mut find = Command::new("find");
    let found = find.args(["crates", "examples", "-name", "*.rs"]).current_dir(root()).output();
    let files = String::from_utf8(found.unwrap().stdout).unwrap();
    let read = |file: &str| lines(&document(file));
    let compiled: Vec<Vec<String>> = files.lines().map(read).collect();
    for of in ["a-kernel", "a-result", "a-transport", "an-experiment"] {
        let name = format!("docs/adding-{of}.md");
        let mut shown: Vec<Block> = blocks(&document(&name));
        shown.retain(|block| block.info == "rust");
        assert!(!shown.is_empty(), "{name}");
        for block in shown {
            let wanted = lines(&block.lines.join("\n"));
            let has_all = |file: &Vec<String>| {
                let mut left = file.iter();
                wanted.iter().all(|line| left.any(|one| one == line))
            };
            assert!(compiled.iter().any(has_all), "{name}, line {}: in no file", block.at);
        }
    }
}

#[test]
fn the_examples_are_short() {
    // Without imports, comments, and lines that only close something.
    let is_code = |line: &&str| {
        let apart = ["//", "use ", "}"].iter().any(|begin| line.trim().starts_with(begin));
        !line.trim().is_empty() && !apart
    };
    for (file, most) in [("ring/src/ring.rs", 33), ("courier/src/courier.rs", 160)] {
        let lines = document(&format!("examples/{file}")).lines().filter(is_code).count();
        assert!((20..=most).contains(&lines), "{file}: {lines} lines");
    }
}

#[test]
fn blocks_are_read_as_written() {
    let text = "```sh\n# no\nbandgap a \\\n  b # why\nls\n```\n```sh no-test\nbandgap c\n```\n\
                ```console\n$ bandgap d\none\n\ntwo\n$ bandgap e\n```\n";
    let blocks = blocks(text);
    let infos: Vec<&str> = blocks.iter().map(|block| block.info.as_str()).collect();
    assert_eq!(infos, ["sh", "sh no-test", "console"]);
    let [command] = &shell_commands(&blocks[0])[..] else { panic!("not one command") };
    assert_eq!(command.split_whitespace().collect::<Vec<_>>(), ["bandgap", "a", "b"]);
    let expected = [("bandgap d", "one\n\ntwo\n"), ("bandgap e", "")];
    assert_eq!(dialogue(&blocks[2]), expected.map(|(c, o)| (c.to_owned(), o.to_owned())));
}
