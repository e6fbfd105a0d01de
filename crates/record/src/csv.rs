//! Writing CSV.

use bandgap_units::Ns;

use crate::{Quantity, RecordError};

/// A column of a table: its name, and the cell of a row.
pub type Column<R> = (&'static str, fn(&R) -> String);

/// Rows under the names of their columns.
///
/// # Errors
/// The table cannot be written.
pub fn csv<R>(
    columns: &[Column<R>],
    rows: impl IntoIterator<Item = R>,
) -> Result<Vec<u8>, RecordError> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(columns.iter().map(|(name, _)| name)).map_err(RecordError::Csv)?;
    for row in rows {
        csv.write_record(columns.iter().map(|(_, cell)| cell(&row))).map_err(RecordError::Csv)?;
    }
    csv.into_inner().map_err(|error| RecordError::Csv(error.into_error().into()))
}

/// A time's value in nanoseconds.
pub fn estimate(quantity: &Quantity) -> String {
    nanoseconds(Ns::from_secs(quantity.value.0))
}

/// The lower end of a time's interval in nanoseconds; empty where there is none.
pub fn lower(quantity: &Quantity) -> String {
    quantity.interval().map(|(low, _)| nanoseconds(Ns::from_secs(low))).unwrap_or_default()
}

/// The upper end.
pub fn upper(quantity: &Quantity) -> String {
    quantity.interval().map(|(_, high)| nanoseconds(Ns::from_secs(high))).unwrap_or_default()
}

/// Nanoseconds to the femtosecond: the rest is what the conversion from seconds added.
pub fn nanoseconds(time: Ns) -> String {
    let text = format!("{:.6}", time.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
