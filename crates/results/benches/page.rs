//! The page of a run: how large it is, how long writing it takes and what memory it needs, and when a browser has drawn it.
//!
//! `cargo bench -p bandgap-results -- RUN` of a kept run, such as one of `run --full`. Aims: at most 600 kB, 200 ms,
//! 50 MiB, 1 s.

use std::path::Path;
use std::process::Command;
use std::time::Instant;
use std::{env, fs};

use bandgap_record::read;
use bandgap_results::{Run, page};

const TIMES: usize = 20;

/// The most memory that this process has had, in MiB.
fn peak() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok());
    kib.unwrap_or(f64::NAN) / 1024.0
}

/// When the page's script has done its work after the page was asked for, in milliseconds.
fn drawn(file: &Path) -> Option<f64> {
    let mut browser = Command::new("chromium");
    browser.args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]);
    let output = browser.arg(format!("file://{}#selftest", file.display())).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.split("\"ready\":").nth(1)?.split([',', '}']).next()?.parse().ok()
}

fn main() {
    let Some(path) = env::args().skip(1).find(|of| !of.starts_with('-')) else {
        return println!("name a kept run: cargo bench -p bandgap-results -- RUN");
    };
    let run: Run = read(Path::new(&path)).expect("a kept run");
    let before = peak();
    let mut times: Vec<f64> = Vec::new();
    let mut text = String::new();
    for _ in 0..TIMES {
        let begun = Instant::now();
        text = page(&run);
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    let (kilobytes, median) = (text.len() as f64 / 1e3, times[TIMES / 2]);
    println!(
        "{kilobytes:.0} kB, written in {median:.1} ms, {:.1} MiB more memory",
        peak() - before
    );
    let file = env::temp_dir().join(format!("bandgap-page-{}.html", std::process::id()));
    fs::write(&file, text).expect("a file");
    match drawn(&file) {
        Some(ms) => println!("drawn in {ms:.0} ms"),
        None => println!("SKIPPED: there is no chromium to draw it"),
    }
    let _ = fs::remove_file(file);
}
