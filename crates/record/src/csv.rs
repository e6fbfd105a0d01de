//! Writing CSV.

use crate::RecordError;

/// Records under the names of their columns.
///
/// # Errors
/// The table cannot be written.
pub fn csv<'a>(
    columns: &[&str],
    records: impl IntoIterator<Item = Vec<std::borrow::Cow<'a, str>>>,
) -> Result<Vec<u8>, RecordError> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(columns).map_err(RecordError::Csv)?;
    for record in records {
        csv.write_record(record.iter().map(|cell| cell.as_bytes())).map_err(RecordError::Csv)?;
    }
    csv.into_inner().map_err(|error| RecordError::Csv(error.into_error().into()))
}
