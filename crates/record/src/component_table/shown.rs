//! What a table shows of its stack.

use bandgap_model::breakdown::{Question, Stack};

use super::{BarsDeclared, Case, CurvesDeclared};

/// What is shown of a stack, and what cannot be, with its line and the reason.
pub(super) struct Shown {
    pub figures: Vec<BarsDeclared>,
    pub questions: Vec<Question>,
    pub curves: Vec<CurvesDeclared>,
    pub cases: Vec<Case>,
    pub left_out: Vec<(u64, String)>,
}

impl Shown {
    /// Of what is declared that whose names the stack has.
    pub fn of(
        stack: &Stack,
        figures: Vec<(u64, BarsDeclared)>,
        questions: Vec<(u64, Question)>,
        curves: Vec<(u64, CurvesDeclared)>,
        cases: Vec<(u64, Case)>,
    ) -> Shown {
        let mut left_out = Vec::new();
        // A stack is checked: its models have values.
        let models = stack.evaluated(&stack.state()).unwrap_or_default();
        let is_time = |name: &str| match stack.model(name) {
            Some(at) if models.get(at).is_some_and(|model| model.is_time) => Ok(()),
            Some(_) => Err(format!("'{name}' is no time, so it has no parts")),
            None => Err(format!("'{name}' is no model")),
        };
        let figures = kept(figures, &mut left_out, |figure| {
            figure.bars.iter().try_for_each(|bar| is_time(&bar.model))
        });
        let questions = kept(questions, &mut left_out, |question| {
            if let Question::Most { model, .. } = question
                && stack.model(model).is_some()
            {
                is_time(model)?;
            }
            stack.answer_of(&models, question, 1.0).map(|_| ()).map_err(|error| error.why)
        });
        let curves = kept(curves, &mut left_out, |curves| {
            is_time(&curves.model)?;
            let meant = |what: &String| stack.meant(what).map(|_| ()).map_err(|error| error.why);
            curves.of.iter().try_for_each(meant)
        });
        let cases = kept(cases, &mut left_out, |case| {
            stack.changed(&case.changes).map(|_| ()).map_err(|error| error.why)
        });
        Shown { figures, questions, curves, cases, left_out }
    }
}

fn kept<T>(
    all: Vec<(u64, T)>,
    left_out: &mut Vec<(u64, String)>,
    check: impl Fn(&T) -> std::result::Result<(), String>,
) -> Vec<T> {
    let mut kept = Vec::new();
    for (line, one) in all {
        match check(&one) {
            Ok(()) => kept.push(one),
            Err(why) => left_out.push((line, why)),
        }
    }
    kept
}
