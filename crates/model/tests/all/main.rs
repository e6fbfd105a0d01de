//! Tables with known truths in, parameters and intervals out.

mod hockney;
mod hops;
mod logp;
#[path = "../support/machine.rs"]
mod machine;
mod tables;

/// How many times more tables than usual: `BANDGAP_MORE_TABLES=4` asks for four.
fn more() -> usize {
    let asked = std::env::var("BANDGAP_MORE_TABLES").ok().and_then(|asked| asked.parse().ok());
    asked.unwrap_or(1)
}
