//! Writing CSV.

use bandgap_units::Ns;

use crate::{Quantity, RecordError};

/// Rows under the names of their columns, which are parted by commas.
///
/// # Errors
/// A row with more or fewer cells than there are columns.
pub fn csv<C: AsRef<[u8]>>(
    columns: &str,
    rows: impl IntoIterator<Item = impl IntoIterator<Item = C>>,
) -> Result<Vec<u8>, RecordError> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(columns.split(',')).map_err(RecordError::Csv)?;
    for row in rows {
        csv.write_record(row).map_err(RecordError::Csv)?;
    }
    csv.into_inner().map_err(|error| RecordError::Csv(error.into_error().into()))
}

/// A time's value in nanoseconds.
pub fn estimate(quantity: &Quantity) -> String {
    nanoseconds(Ns::from_secs(quantity.value.0))
}

/// The ends of a time's interval in nanoseconds; empty where there is none.
pub fn bounds(quantity: &Quantity) -> [String; 2] {
    let end = |seconds| nanoseconds(Ns::from_secs(seconds));
    quantity.interval().map(|(low, high)| [end(low), end(high)]).unwrap_or_default()
}

/// Nanoseconds to the femtosecond: the rest is what the conversion from seconds added.
pub fn nanoseconds(time: Ns) -> String {
    let text = format!("{:.6}", time.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
