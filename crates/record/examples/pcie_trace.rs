//! Writes a synthetic trace of a PCIe analyser to standard output: of the paper's machine, with jitter.
//!
//! `cargo run -p bandgap-record --example pcie_trace -- injection|ping-pong|direct MESSAGES [SEED]`

#[path = "../tests/support/synthetic.rs"]
mod synthetic;

use std::io::{BufWriter, Write, stdout};

use synthetic::{Machine, PAPER, Traffic};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |at: usize| words.get(at).map(String::as_str);
    let machine = match word(0) {
        Some("injection") => Machine { traffic: Traffic::Injection, ..PAPER },
        Some("ping-pong") => PAPER,
        Some("direct") => Machine { switch: 0.0, ..PAPER },
        _ => return Err("say injection, ping-pong or direct, and how many messages".into()),
    };
    let messages = word(1).unwrap_or("1000").parse()?;
    let seed = word(2).unwrap_or("1").parse()?;
    let machine = Machine { messages, seed, jitter: 10.0, lost: 0.002, ..machine };
    let mut out = BufWriter::new(stdout().lock());
    machine.write(&mut out)?;
    Ok(out.flush()?)
}
