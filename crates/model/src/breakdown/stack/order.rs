//! The order in which formulas that name each other are computed.

use super::{Checked, StackError};

/// Places, each after those that it needs. A circle is told from its first place on.
pub(super) fn ordered<'a>(
    count: usize,
    needs: impl Fn(usize) -> Checked<Vec<usize>>,
    name: impl Fn(usize) -> &'a str,
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
                    let places = path.iter().map(|(at, _)| *at).skip_while(|at| *at != next);
                    return Err(circle(places.collect(), name));
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

fn circle<'a>(mut places: Vec<usize>, name: impl Fn(usize) -> &'a str) -> StackError {
    let first = (0..places.len()).min_by_key(|at| places[*at]).unwrap_or_default();
    places.rotate_left(first);
    let names: Vec<&str> = places.iter().chain(places.first()).map(|at| name(*at)).collect();
    let why = format!("formulas lead back to where they began: {}", names.join(" → "));
    StackError::new(names.first().copied().unwrap_or_default(), why)
}
