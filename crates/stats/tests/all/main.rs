//! Statistics against other programs and by simulation.

mod independent;
mod lines;

#[track_caller]
fn assert_close(value: f64, expected: f64, relative: f64) {
    assert!((value - expected).abs() <= relative * expected.abs(), "{value} is not {expected}");
}
