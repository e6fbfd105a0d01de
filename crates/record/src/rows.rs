//! Quantities over axes, the form of most results.

use std::collections::BTreeMap;

use bandgap_units::Place;
use serde::de::{self, DeserializeOwned};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{Form, Number, Quantity, Unit};

/// Quantities over axes; a single row if there are no axes.
///
/// In the run file each row is an object in `points`, with its coordinates under the names of the axes, its labels, and
/// its quantities under the names of the columns. The fields of a single row without axes are in the result itself.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, remote = "Self")]
pub struct Rows {
    /// The kind of result: `series`, `floor`.
    pub kind: String,
    /// Its name: `comms1`, `cache_line`.
    pub name: String,
    /// The transport as on the command line; empty if the result has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub transport: String,
    /// Whether received bytes were compared; `None` without messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
    /// How the one-screen view shows the rows.
    #[serde(skip_serializing_if = "is_usual")]
    pub form: Form,
    /// Labels of all rows: `buffers`, `pair`.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// Names of the axes. The coordinates on them are part of a quantity's id.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub axes: Vec<String>,
    /// The columns: the quantities of each row.
    pub columns: Vec<Column>,
    /// The rows.
    #[serde(skip)]
    pub rows: Vec<Row>,
}

/// Names and numbers that describe rows, but are not part of ids.
pub type Labels = BTreeMap<String, Place>;

/// A column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Its name: `time`.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// Its meaning, in one line.
    pub meaning: String,
    /// Whether `--strict` requires convergence.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counts: bool,
}

impl Column {
    /// A column that `--strict` ignores.
    pub fn new(name: &str, unit: Unit, meaning: &str) -> Column {
        Column { name: name.to_owned(), unit, meaning: meaning.to_owned(), counts: false }
    }

    /// Makes `--strict` require convergence.
    pub fn counting(self) -> Column {
        Column { counts: true, ..self }
    }
}

/// A row.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Row {
    /// Coordinates, in the order of the axes.
    pub place: Vec<Place>,
    /// Labels of this row, such as the algorithm chosen by a first look.
    pub labels: Labels,
    /// Quantities, in the order of the columns.
    pub cells: Vec<Option<Quantity>>,
    /// Distribution of the samples.
    pub spread: Option<Spread>,
}

/// Summary of a distribution of samples, in seconds.
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

    /// The coordinate of a row on an axis.
    pub fn place<'a>(&self, row: &'a Row, axis: &str) -> Option<&'a Place> {
        row.place.get(self.axis(axis)?)
    }

    /// A label of a row, or else of all rows.
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

    /// All quantities with their ids, `None` if not known, and whether `--strict` requires convergence; of one that is not
    /// known it requires nothing.
    pub fn quantities(&self) -> Vec<(String, Option<&Quantity>, bool)> {
        let mut all = Vec::new();
        for row in &self.rows {
            let id = self.row_id(row);
            for (column, cell) in self.columns.iter().zip(&row.cells) {
                let counts = column.counts && cell.is_some();
                all.push((format!("{id}/{}", column.name), cell.as_ref(), counts));
            }
        }
        all
    }
}

/// The fields of a row, in a readable order.
fn fields(rows: &Rows, row: &Row) -> Map<String, Value> {
    let places = rows.axes.iter().zip(&row.place).chain(&row.labels);
    let places = places.map(|(name, place)| (name.clone(), json(place)));
    let cells = rows.columns.iter().zip(&row.cells);
    let cells = cells.filter_map(|(of, cell)| Some((of.name.clone(), json(cell.as_ref()?))));
    let spread = row.spread.iter().map(|spread| (SPREAD.to_owned(), json(spread)));
    places.chain(cells).chain(spread).collect()
}

/// A value as JSON. Its numbers are finite, since [`Quantity::new`] has checked them.
fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

const SPREAD: &str = "spread";

/// Rows as in the run file.
#[derive(Serialize, Deserialize)]
struct Written {
    #[serde(flatten, with = "Rows")]
    rows: Rows,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    points: Option<Vec<Map<String, Value>>>,
    /// The only row, if there are no axes.
    #[serde(flatten)]
    single: Map<String, Value>,
}

fn is_usual(form: &Form) -> bool {
    *form == Form::default()
}

impl Serialize for Rows {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut points: Vec<_> = self.rows.iter().map(|row| fields(self, row)).collect();
        let is_single = self.axes.is_empty() && points.len() == 1;
        let single = points.pop_if(|_| is_single).unwrap_or_default();
        let points = (!is_single).then_some(points);
        Written { rows: self.clone(), points, single }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Rows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Rows, D::Error> {
        let Written { mut rows, points, single } = Written::deserialize(deserializer)?;
        for point in points.unwrap_or_else(|| vec![single]) {
            let row = rows.read(point).map_err(de::Error::custom)?;
            rows.rows.push(row);
        }
        Ok(rows)
    }
}

impl Rows {
    /// Reads a row.
    fn read(&self, mut point: Map<String, Value>) -> Result<Row, String> {
        let mut row = Row::default();
        for axis in &self.axes {
            let place: Option<Place> = field(&mut point, axis)?;
            row.place.push(place.ok_or_else(|| format!("a point has no {axis}"))?);
        }
        for column in &self.columns {
            row.cells.push(field(&mut point, &column.name)?);
        }
        row.spread = field(&mut point, SPREAD)?;
        // All else is a label. A field of a later version that is neither a name nor a number is left out.
        for (name, value) in point {
            if let Ok(place) = serde_json::from_value(value) {
                row.labels.insert(name, place);
            }
        }
        Ok(row)
    }
}

/// Takes a field out of an object; the default if it is missing.
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
        let known = rows.quantities().into_iter().filter(|(_, of, _)| of.is_some());
        let ids: Vec<String> = known.map(|(id, ..)| id).collect();
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
