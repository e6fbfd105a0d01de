//! What the quantities of a run are: of columns as the run says, of others as the method does.

use bandgap_record::{Form, Rows};
use bandgap_report::{Head, Table};

use crate::hockney::{Hockney, PARAMETERS};
use crate::logp::Logp;
use crate::rows::spelled;
use crate::run::{Run, context};
use crate::shown::by_key;

const METHOD: &str = include_str!("../../../docs/method.md");

/// A row for each kind of quantity that a run has.
pub(crate) fn meanings(run: &Run) -> Table {
    let context = context(run);
    let known = |logp: &Logp| logp.parameters.named().map(|(_, symbol, of, _)| of.map(|_| symbol));
    let symbols = context.of::<Logp>().flat_map(known).flatten();
    let fits = context.of::<Hockney>().flat_map(|_| PARAMETERS);
    let floors = context.of::<Rows>().filter(|rows| rows.form == Form::Floor);
    let names = symbols.chain(fits).chain(floors.map(|rows| rows.name.as_str()));
    let of_method = names.filter_map(|name| Some((name.to_owned(), defined(name)?)));
    let columns = context.of::<Rows>().flat_map(|rows| &rows.columns);
    let columns = columns.filter(|column| !column.meaning.is_empty());
    let columns = columns.map(|column| (spelled(&column.name), column.meaning.clone()));
    let all = by_key(of_method.chain(columns).map(|of| (of, ())));
    let rows = all.into_iter().map(|((name, meaning), _)| [name.into(), meaning.into()]);
    Table { folded: true, ..Table::new(["", "what it is"].map(Head::new)).with(rows) }
}

/// The first sentence of the row about a name in a table of the method.
fn defined(name: &str) -> Option<String> {
    let marks = [format!("**{name}**"), format!("`{name}`")];
    let mut cells = METHOD.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" | "));
    let is_its = |head: &str| marks.iter().any(|mark| head.split(", ").any(|of| of == mark));
    let (_, definition) = cells.find(|(head, _)| is_its(head))?;
    let definition = definition.split(" |").next()?.split(". ").next()?;
    Some(definition.replace(['*', '`'], ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_method_defines_what_a_run_can_have() {
        let named = Logp::default().parameters.named().map(|(_, symbol, ..)| symbol);
        let own = named.into_iter().filter(|symbol| *symbol != "os + L");
        for name in own.chain(PARAMETERS).chain(["cache_line", "copy_cross_core", "udp"]) {
            assert!(defined(name).is_some_and(|of| !of.contains(['|', '*', '`'])), "{name}");
        }
        assert_eq!(
            defined("idle").unwrap(),
            "g − os − or: computation after each message that costs nothing at full rate"
        );
        assert_eq!(defined("gap"), None);
    }
}
