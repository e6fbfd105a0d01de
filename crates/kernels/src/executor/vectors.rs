//! The vectors of [`bandgap_comm::Work::Daxpy`].

use std::hint::black_box;

/// The vectors x and y, of equal length.
#[derive(Debug, Default)]
pub(super) struct Vectors {
    x: Vec<f64>,
    y: Vec<f64>,
}

/// Small, so that y stays finite however often the computation runs.
const A: f64 = 1e-12;

impl Vectors {
    /// Extends both vectors to at least this length.
    pub(super) fn grow(&mut self, elements: usize) {
        if self.x.len() < elements {
            self.x.resize(elements, 1.0);
            self.y.resize(elements, 0.0);
        }
    }

    /// y ← a·x + y over the first elements.
    #[inline(never)]
    pub(super) fn daxpy(&mut self, elements: usize) {
        if self.x.len() < elements {
            self.grow(elements);
        }
        let a = black_box(A);
        let (x, y) = (&self.x[..elements], &mut self.y[..elements]);
        for (y, x) in y.iter_mut().zip(x) {
            *y += a * x;
        }
        black_box(y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_elements_are_added_to_and_others_are_not() {
        let mut vectors = Vectors::default();
        vectors.daxpy(3);
        vectors.grow(5);
        vectors.daxpy(2);
        assert_eq!(vectors.y, [2.0 * A, 2.0 * A, A, 0.0, 0.0]);
    }
}
