//! What rows look like.

use bandgap_record::{Quantity, Rows};
use bandgap_report::Block;

use crate::run::{Context, Shown};

impl Shown for Rows {
    fn quantities(&self) -> Vec<(String, &Quantity, bool)> {
        self.quantities()
    }

    fn detail(&self, _context: &Context<'_>) -> Vec<Block> {
        Vec::new()
    }
}
