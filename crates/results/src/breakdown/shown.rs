//! What a reader sees of a breakdown.

use bandgap_model::breakdown::Category;
use bandgap_record::{Column, Quantity, RecordError, csv, nanoseconds};
use bandgap_report::{
    Axis, Bar, Bars, Datum, Dimension, Figure, Layout, Listing, Part, Scale, Series, Style, bars,
    svg_bars, svg_panels,
};
use bandgap_units::Fraction;

use super::schema::{Breakdown, ComponentTime, ModelTime, PartTime, Within};
use crate::kind::{Among, File, Shown, Verdict};
use crate::measured::{for_gnuplot, named_file, share_with_interval, with_interval};

/// Rows of components, at most.
const ROWS: usize = 40;
/// Parts of a bar that are named; the others are one part.
const NAMED: usize = 12;

impl Shown for Breakdown {
    fn quantities(&self) -> Vec<(String, &Quantity)> {
        let named = |what: &str, name: &str| format!("{}, {what} {name}", self.name);
        let components = self.components.iter();
        let times = components.map(|one| (named("component", &one.name), &one.time));
        let models = self.models.iter().flat_map(|model| {
            let error = model.error.as_ref().map(|error| (named("error of", &model.name), error));
            [(named("model", &model.name), &model.modelled)].into_iter().chain(error)
        });
        times.chain(models).collect()
    }

    fn text(&self, _: &Among<'_>, layout: &Layout) -> String {
        let mut text = layout.paragraph(&format!("Breakdown of {}", self.name)) + "\n";
        text += &models(self, layout);
        text += &components(self, layout);
        for model in self.main() {
            text += &format!("\n{}", bars(&figure(self, model), layout));
        }
        let inserted = self.measured.as_ref().map_or(&[][..], |measured| &measured.inserted);
        if !inserted.is_empty() {
            text += "\n";
            text += &Listing::new(inserted, layout)
                .text("inserted in", |one| one.component.clone())
                .number("length", |one| one.inserted.ns().to_string())
                .number("it became longer by", |one| with_interval(&one.part))
                .text("", |one| word(Some(one.comes_back)))
                .number("half a round trip by", |one| with_interval(&one.whole))
                .text("", |one| word(Some(one.whole_comes_back)))
                .finish();
        }
        if !self.lacking.is_empty() {
            text += "\n";
            text += &Listing::new(&self.lacking, layout)
                .text("not modelled", |one| one.model.clone())
                .text("for want of", |one| one.components.join(", "))
                .finish();
        }
        text
    }

    fn figures(&self, _: &Among<'_>) -> Vec<Figure> {
        arrivals(self).into_iter().collect()
    }

    fn files(&self, among: &Among<'_>) -> Result<Vec<File>, RecordError> {
        let alone = among.of::<Breakdown>().count() < 2 && !among.more_to_come;
        let named = |what: &str, ending: &str| match alone {
            true => format!("{what}.{ending}"),
            false => format!("{what}-{}.{ending}", named_file(&self.name)),
        };
        let bars: Vec<Bars> = self.main().map(|model| figure(self, model)).collect();
        let mut files = vec![File::new(named("breakdown", "csv"), divided(self)?)];
        // One that was changed by hand may be of nothing.
        if let Ok(table) = self.table() {
            files.push(File::new(named("components", "csv"), table.to_csv()?));
        }
        files.push(File::new(named("breakdown", "svg"), svg_bars(&bars)));
        if let Some(figure) = arrivals(self) {
            let figures = [figure];
            files.push(File::new(named("arrivals", "svg"), svg_panels(&figures)));
            files.extend(for_gnuplot(&figures, named("arrivals", "").trim_end_matches('.')));
        }
        Ok(files)
    }

    fn findings(&self) -> &[String] {
        &[]
    }

    /// A model that may be further than 5 % from what was observed is off.
    fn verdict(&self) -> Verdict {
        let off = |model: &&ModelTime| !matches!(model.within, None | Some(Within::Holds));
        let named = |model: &ModelTime| format!("breakdown of {}: {}", self.name, model.name);
        Verdict::doubtful(self.models.iter().filter(off).map(named))
    }
}

pub(crate) fn word(within: Option<Within>) -> String {
    match within {
        None => "",
        Some(Within::Holds) => "holds",
        Some(Within::Off) => "off",
        Some(Within::Undecided) => "undecided",
    }
    .to_owned()
}

pub(crate) fn or_nothing(of: Option<&Quantity>, write: fn(&Quantity) -> String) -> String {
    of.map(write).unwrap_or_default()
}

fn models(breakdown: &Breakdown, layout: &Layout) -> String {
    let any = breakdown.models.iter().any(|model| model.observed.is_some());
    Listing::new(&breakdown.models, layout)
        .text("model", |model| model.name.clone())
        .number("modelled", |model| with_interval(&model.modelled))
        .when(any, |rows| {
            rows.number("observed", |model| or_nothing(model.observed.as_ref(), with_interval))
                .number("error", |model| or_nothing(model.error.as_ref(), share_with_interval))
                .text("within 5 %", |model| word(model.within))
        })
        .finish()
}

/// The components of the main models, the largest if there are many, and their shares.
fn components(breakdown: &Breakdown, layout: &Layout) -> String {
    let share = |model: &ModelTime, one: &ComponentTime| model.share("component", &one.name);
    let greatest = |one: &ComponentTime| {
        breakdown.main().filter_map(|model| share(model, one)).fold(0.0, f64::max)
    };
    let mut rows: Vec<(usize, &ComponentTime)> =
        breakdown.components.iter().enumerate().filter(|(_, one)| greatest(one) > 0.0).collect();
    if rows.len() > ROWS {
        rows.sort_by(|(_, a), (_, b)| greatest(b).total_cmp(&greatest(a)));
        rows.truncate(ROWS);
        rows.sort_by_key(|(at, _)| *at);
    }
    let rows: Vec<&ComponentTime> = rows.into_iter().map(|(_, one)| one).collect();
    let mut listing = Listing::new(rows, layout)
        .text("component", |one| one.name.clone())
        .text("of", |one| format!("{}, {}, {}", one.category, one.layer, one.side))
        .text("known", |one| one.provenance.to_string())
        .number("time", |one| with_interval(&one.time));
    for model in breakdown.main() {
        listing = listing.number(&model.name, |one| {
            share(model, one).map(|share| Fraction(share).to_string()).unwrap_or_default()
        });
    }
    "\n".to_owned() + &listing.sparing(&["known", "of"]).finish()
}

/// A model by category, the components of each category, and the model by layer and side.
///
/// *Source*: "Breaking Band", figures 8 to 16, most of all 15.
fn figure(breakdown: &Breakdown, model: &ModelTime) -> Bars {
    let of = |name: &str| breakdown.components.iter().find(|one| one.name == name);
    let category = |part: &PartTime| of(&part.name).map(|one| one.category);
    let bar = |name: &str, parts: &[PartTime], kind: &dyn Fn(&PartTime) -> Option<usize>| {
        let whole: f64 = parts.iter().map(|part| part.time.0.0).sum();
        let drawn = |part: &PartTime| Part {
            name: part.name.clone(),
            share: if whole == 0.0 { 0.0 } else { part.time.0.0 / whole },
            kind: kind(part),
        };
        let (named, rest) = parts.split_at(parts.len().min(NAMED));
        let mut drawn: Vec<Part> = named.iter().map(drawn).collect();
        if !rest.is_empty() {
            let share = 1.0 - drawn.iter().map(|part| part.share).sum::<f64>();
            drawn.push(Part { name: format!("{} more", rest.len()), share, kind: None });
        }
        Bar { name: name.to_owned(), whole: format!("{:.2} ns", whole * 1e9), parts: drawn }
    };
    let own = |part: &PartTime| Category::named(&part.name).map(|own| own as usize);
    let mut all = vec![bar("category", model.by("category"), &own)];
    for one in Category::ALL {
        let mut parts: Vec<PartTime> = model.by("component").to_vec();
        parts.retain(|part| category(part) == Some(*one));
        parts.sort_by(|a, b| b.share.0.total_cmp(&a.share.0));
        all.push(bar(&one.to_string(), &parts, &|_| Some(*one as usize)));
    }
    all.push(bar("layer", model.by("layer"), &|_| None));
    all.push(bar("side", model.by("side"), &|_| None));
    // One that is not divided says nothing, but for the first.
    let first = all[0].clone();
    all.retain(|bar| bar.parts.len() > 1);
    if all.is_empty() {
        all.push(first);
    }
    Bars { title: model.name.clone(), bars: all }
}

/// A row for each part of each model, in each way.
fn divided(breakdown: &Breakdown) -> Result<Vec<u8>, RecordError> {
    type Row<'a> = (&'a ModelTime, &'a str, &'a PartTime);
    let columns: [Column<Row<'_>>; 5] = [
        ("model", |(model, _, _)| model.name.clone()),
        ("by", |(_, by, _)| (*by).to_owned()),
        ("part", |(_, _, part)| part.name.clone()),
        ("time_ns", |(_, _, part)| nanoseconds(part.time.ns())),
        ("share", |(_, _, part)| part.share.0.to_string()),
    ];
    let rows = breakdown.models.iter().flat_map(|model| {
        let ways = model.divided.iter();
        ways.flat_map(move |way| way.parts.iter().map(move |part| (model, way.by.as_str(), part)))
    });
    csv(&columns, rows)
}

/// The shares of the intervals between arrivals that are no longer than a time; nothing where there are none.
///
/// *Source*: "Breaking Band", figure 7.
fn arrivals(breakdown: &Breakdown) -> Option<Figure> {
    let measured = breakdown.measured.as_ref()?;
    let arrivals = measured.arrivals.as_ref()?;
    let points = arrivals.quantiles.iter().map(|(share, time)| Datum::exact(time.ns().0, share.0));
    let axis = |label: &str, scale, dimension| Axis { label: label.into(), scale, dimension };
    Some(Figure {
        title: format!("Requests over {}: how they arrive", measured.transport),
        subtitle: "the share of the intervals between arrivals that are no longer".to_owned(),
        x: axis("interval", Scale::Log10, Dimension::Time),
        y: axis("share", Scale::Linear, Dimension::Count),
        legend: "sent".to_owned(),
        series: vec![Series {
            name: "as fast as possible".to_owned(),
            points: points.collect(),
            style: Style::Line,
            twin: None,
        }],
        references: Vec::new(),
        regions: Vec::new(),
        marks: Vec::new(),
        notes: Vec::new(),
    })
}
