//! The order in which formulas that name each other are computed.

use super::{Checked, StackError};

/// Places, each after those that it needs.
pub(super) fn ordered<'a>(
    count: usize,
    needs: impl Fn(usize) -> Checked<Vec<usize>>,
    name: impl Fn(usize) -> &'a String,
) -> Checked<Vec<usize>> {
    let mut order = Vec::with_capacity(count);
    let mut done = vec![false; count];
    let mut open = vec![false; count];
    for start in 0..count {
        if done[start] {
            continue;
        }
        // The path to where the search is, each with what it still needs.
        let mut path = vec![(start, needs(start)?)];
        open[start] = true;
        while let Some((at, needed)) = path.last_mut() {
            let at = *at;
            match needed.pop() {
                None => {
                    (open[at], done[at]) = (false, true);
                    order.push(at);
                    path.pop();
                }
                Some(next) if done[next] => {}
                Some(next) if open[next] => {
                    let circle = path.iter().map(|(at, _)| *at).skip_while(|at| *at != next);
                    let circle: Vec<&str> =
                        circle.chain([next]).map(|at| name(at).as_str()).collect();
                    let why =
                        format!("formulas lead back to where they began: {}", circle.join(" → "));
                    return Err(StackError::new(name(next), why));
                }
                Some(next) => {
                    open[next] = true;
                    path.push((next, needs(next)?));
                }
            }
        }
    }
    Ok(order)
}
