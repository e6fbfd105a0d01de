//! Quantities over axes: what most results are.

use std::collections::BTreeMap;

use bandgap_units::Place;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Form, Number, Quantity, Unit};

/// Quantities over axes. Without axes it is a single row.
///
/// In the run file each row is an object in `points`: its place by the names of the axes, its labels, and its
/// quantities by the names of the columns. A single row without axes stands in the object itself.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(into = "Written", try_from = "Written")]
pub struct Rows {
    /// The kind of result: `series`, `floor`.
    pub kind: String,
    /// Its name: `comms1`, `cache_line`.
    pub name: String,
    /// The transport as the command line names it; empty where it is of none.
    pub transport: String,
    /// Whether received bytes were compared; `None` where no messages were sent.
    pub verified: Option<bool>,
    /// How they are shown on one screen.
    pub form: Form,
    /// What all rows have in common and is no axis: `buffers`, `pair`.
    pub labels: Labels,
    /// What a row is at: by these its quantities have their ids.
    pub axes: Vec<String>,
    /// What was measured at each.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// Names and numbers that describe, and do not identify.
pub type Labels = BTreeMap<String, Place>;

/// A column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Its name: `time`.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// What it is, in one line.
    pub meaning: String,
    /// Whether `--strict` asks for its convergence.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counts: bool,
}

impl Column {
    /// A column whose convergence `--strict` does not ask for.
    pub fn new(name: &str, unit: Unit, meaning: &str) -> Column {
        Column { name: name.to_owned(), unit, meaning: meaning.to_owned(), counts: false }
    }

    /// The same whose convergence `--strict` asks for.
    pub fn counting(self) -> Column {
        Column { counts: true, ..self }
    }
}

/// A row.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Row {
    /// Its places on the axes, in their order.
    pub place: Vec<Place>,
    /// How it was done, where that is not what was asked for: the algorithm that a first look chose.
    pub labels: Labels,
    /// Its quantities, in the order of the columns.
    pub cells: Vec<Option<Quantity>>,
    /// The distribution of its samples.
    pub spread: Option<Spread>,
}

/// A distribution of samples in a few numbers, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Number of samples.
    pub samples: u64,
    /// Smallest.
    pub min: Number,
    /// Median.
    pub median: Number,
    /// 90th percentile.
    pub p90: Number,
    /// 99th percentile.
    pub p99: Number,
    /// 99.9th percentile.
    pub p999: Number,
    /// Largest.
    pub max: Number,
}

impl Rows {
    /// The index of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The index of an axis.
    pub fn axis(&self, name: &str) -> Option<usize> {
        self.axes.iter().position(|axis| axis == name)
    }

    /// A quantity of a row.
    pub fn cell<'a>(&self, row: &'a Row, column: &str) -> Option<&'a Quantity> {
        row.cells.get(self.column(column)?)?.as_ref()
    }

    /// The place of a row on an axis.
    pub fn place<'a>(&self, row: &'a Row, axis: &str) -> Option<&'a Place> {
        row.place.get(self.axis(axis)?)
    }

    /// A name that describes a row, or all rows.
    pub fn label<'a>(&'a self, row: &'a Row, name: &str) -> Option<&'a Place> {
        row.labels.get(name).or_else(|| self.labels.get(name))
    }

    /// Its id: `series/comms1/shm`.
    pub fn id(&self) -> String {
        let parts = [&*self.kind, &self.name, &self.transport];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
    }

    /// The id of a row: `series/comms1/shm/bytes=8`.
    pub fn row_id(&self, row: &Row) -> String {
        let places = self.axes.iter().zip(&row.place);
        places.fold(self.id(), |id, (axis, place)| format!("{id}/{axis}={place}"))
    }

    /// All quantities by id, with whether they count.
    pub fn quantities(&self) -> Vec<(String, &Quantity, bool)> {
        let mut all = Vec::new();
        for row in &self.rows {
            let id = self.row_id(row);
            for (column, cell) in self.columns.iter().zip(&row.cells) {
                if let Some(quantity) = cell {
                    all.push((format!("{id}/{}", column.name), quantity, column.counts));
                }
            }
        }
        all
    }
}

/// The fields of a row, in an order that reads well.
fn fields(rows: &Rows, row: &Row) -> Map<String, Value> {
    let places = rows.axes.iter().zip(&row.place).chain(&row.labels);
    let places = places.map(|(name, place)| (name.clone(), json(place)));
    let cells = rows.columns.iter().zip(&row.cells);
    let cells = cells.filter_map(|(of, cell)| Some((of.name.clone(), json(cell.as_ref()?))));
    let spread = row.spread.iter().map(|spread| (SPREAD.to_owned(), json(spread)));
    places.chain(cells).chain(spread).collect()
}

/// A value as JSON. A number that is not finite was refused when the quantity was made.
fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

const SPREAD: &str = "spread";

/// Rows as they stand in a run file.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Written {
    kind: String,
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    transport: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    verified: Option<bool>,
    #[serde(skip_serializing_if = "is_usual")]
    form: Form,
    #[serde(skip_serializing_if = "Labels::is_empty")]
    labels: Labels,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    axes: Vec<String>,
    columns: Vec<Column>,
    #[serde(skip_serializing_if = "Option::is_none")]
    points: Option<Vec<Map<String, Value>>>,
    /// The only row, where there are no axes.
    #[serde(flatten)]
    single: Map<String, Value>,
}

fn is_usual(form: &Form) -> bool {
    *form == Form::default()
}

impl From<Rows> for Written {
    fn from(of: Rows) -> Written {
        let mut points: Vec<_> = of.rows.iter().map(|row| fields(&of, row)).collect();
        let is_single = of.axes.is_empty() && points.len() == 1;
        let single = points.pop_if(|_| is_single).unwrap_or_default();
        let points = (!is_single).then_some(points);
        let Rows { kind, name, transport, verified, form, labels, axes, columns, .. } = of;
        Written { kind, name, transport, verified, form, labels, axes, columns, points, single }
    }
}

impl TryFrom<Written> for Rows {
    type Error = String;

    fn try_from(of: Written) -> Result<Rows, String> {
        let Written {
            kind,
            name,
            transport,
            verified,
            form,
            labels,
            axes,
            columns,
            points,
            single,
        } = of;
        let mut rows = Vec::new();
        for mut point in points.unwrap_or_else(|| vec![single]) {
            let mut row = Row::default();
            for axis in &axes {
                let place: Option<Place> = field(&mut point, axis)?;
                row.place.push(place.ok_or_else(|| format!("a point has no {axis}"))?);
            }
            for column in &columns {
                row.cells.push(field(&mut point, &column.name)?);
            }
            row.spread = field(&mut point, SPREAD)?;
            // What else it has describes it; of newer fields those that are no name or number are left out.
            for (name, value) in point {
                if let Ok(place) = serde_json::from_value(value) {
                    row.labels.insert(name, place);
                }
            }
            rows.push(row);
        }
        Ok(Rows { kind, name, transport, verified, form, labels, axes, columns, rows })
    }
}

/// A field taken out of an object; what its type has in place of a missing one.
fn field<T: DeserializeOwned + Default>(
    map: &mut Map<String, Value>,
    name: &str,
) -> Result<T, String> {
    let value = map.remove(name).map(serde_json::from_value);
    Ok(value.transpose().map_err(|error| format!("{name}: {error}"))?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantity(value: f64) -> Quantity {
        Quantity::new(value, Some((value, value)), Unit::Second, ("mean", 5, true)).unwrap()
    }

    fn series() -> Rows {
        let row = |bytes: u64, way: &str| Row {
            place: vec![bytes.into(), "ring".into()],
            labels: Labels::from([("way".to_owned(), way.into())]),
            cells: vec![Some(quantity(bytes as f64)), None],
            spread: None,
        };
        Rows {
            kind: "series".into(),
            name: "comms1".into(),
            transport: "shm".into(),
            verified: Some(true),
            form: Form::Curve,
            labels: Labels::new(),
            axes: vec!["bytes".into(), "variant".into()],
            columns: vec![
                Column::new("time", Unit::Second, "half a round trip").counting(),
                Column::new("bandwidth", Unit::BytePerSecond, "n/t"),
            ],
            rows: vec![row(8, "pieces"), row(64, "single copy")],
        }
    }

    #[test]
    fn rows_are_objects_by_name_and_come_back() {
        let rows = series();
        let json = serde_json::to_value(&rows).unwrap();
        assert_eq!(json["points"][1]["bytes"], 64);
        assert_eq!(json["points"][1]["way"], "single copy");
        assert_eq!(json["points"][1]["time"]["value"], 64.0);
        assert_eq!(json["points"][1].get("bandwidth"), None);
        assert_eq!(serde_json::from_value::<Rows>(json).unwrap(), rows);
    }

    #[test]
    fn a_single_row_without_axes_stands_in_the_object() {
        let rows = Rows {
            axes: Vec::new(),
            rows: vec![Row { cells: vec![Some(quantity(1.0)), None], ..Row::default() }],
            ..series()
        };
        let json = serde_json::to_value(&rows).unwrap();
        assert_eq!(json["time"]["value"], 1.0);
        assert_eq!(serde_json::from_value::<Rows>(json).unwrap(), rows);
    }

    #[test]
    fn ids_are_made_of_kind_name_transport_axes_and_column() {
        let rows = series();
        let ids: Vec<String> = rows.quantities().into_iter().map(|(id, ..)| id).collect();
        assert_eq!(
            ids,
            [
                "series/comms1/shm/bytes=8/variant=ring/time",
                "series/comms1/shm/bytes=64/variant=ring/time"
            ]
        );
    }

    #[test]
    fn a_broken_row_is_refused() {
        let whole = serde_json::to_value(series()).unwrap();
        let mut json = whole.clone();
        json["points"][1]["time"]["value"] = "x".into();
        assert!(serde_json::from_value::<Rows>(json).is_err());
        let mut json = whole;
        json["points"][1].as_object_mut().unwrap().remove("bytes");
        assert!(serde_json::from_value::<Rows>(json).is_err());
    }
}
