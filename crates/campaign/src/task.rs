//! Tasks: plans as they are sent to rank 0, and the list of experiments.

use bandgap_comm::passing::Tuning;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::LIST;
use crate::beside::Beside;
use crate::data::Measurements;
use crate::planned::{Planned, Room};
use crate::runner::{Runner, Stop};
use crate::series::Step;

/// A task for virtual time, with each step as the function leaves it.
type InVirtualTime = fn(&Task, &dyn Fn(Step) -> Option<Step>) -> Result<Option<Task>, Stop>;

/// One experiment of the list.
pub(crate) struct Row {
    name: &'static str,
    lead: fn(&Task, &mut dyn Runner) -> Result<(), Stop>,
    room: fn(&Task, usize, &Tuning) -> Result<Room, Stop>,
    stamps: bool,
    after: fn(&Task, &Measurements) -> Result<Task, Stop>,
    in_virtual_time: InVirtualTime,
}

impl Row {
    pub(crate) const fn of<P: Planned>() -> Self {
        Self {
            name: P::NAME,
            lead: |task, runner| task.plan::<P>()?.lead(runner),
            room: |task, ranks, tuning| Ok(task.plan::<P>()?.room(ranks, tuning)),
            stamps: P::STAMPS,
            after: |task, table| Task::of(&task.plan::<P>()?.after(table)),
            in_virtual_time: |task, by| {
                let plan = task.plan::<P>()?.in_virtual_time(by);
                plan.as_ref().map(Task::of).transpose()
            },
        }
    }
}

/// The task of a set of rank processes: an experiment's name, and its plan as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The name of the experiment.
    pub name: String,
    plan: Value,
    /// The floors that are measured beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Beside>,
}

impl Task {
    /// The task that carries out `plan`.
    ///
    /// # Errors
    /// The plan has no JSON form.
    pub fn of<P: Planned>(plan: &P) -> Result<Self, Stop> {
        let name = P::NAME.to_owned();
        match serde_json::to_value(plan) {
            Ok(plan) => Ok(Self { name, plan, beside: Vec::new() }),
            Err(error) => Err(Stop::Plan { name, why: error.to_string() }),
        }
    }

    /// The same task with floors that are measured beside it.
    pub fn with_floors(self, beside: Vec<Beside>) -> Self {
        Self { beside, ..self }
    }

    /// Leads the experiment of this name.
    ///
    /// # Errors
    /// As [`Planned::lead`]; or there is no such experiment, or the plan belongs to another one.
    pub fn lead(&self, runner: &mut dyn Runner) -> Result<(), Stop> {
        (self.row()?.lead)(self, runner)
    }

    /// The task for a simulated machine, without floors. See [`Planned::in_virtual_time`].
    ///
    /// # Errors
    /// As [`Task::room`].
    pub fn in_virtual_time(&self, by: &dyn Fn(Step) -> Option<Step>) -> Result<Option<Self>, Stop> {
        (self.row()?.in_virtual_time)(self, by)
    }

    /// The task of the next launch, once these launches were measured. See [`Planned::after`].
    ///
    /// # Errors
    /// As [`Task::room`].
    pub fn after(&self, table: &Measurements) -> Result<Self, Stop> {
        Ok((self.row()?.after)(self, table)?.with_floors(self.beside.clone()))
    }

    /// The memory that each rank needs for it.
    ///
    /// # Errors
    /// There is no such experiment, or the plan belongs to another one.
    pub fn room(&self, ranks: usize, tuning: &Tuning) -> Result<Room, Stop> {
        (self.row()?.room)(self, ranks, tuning)
    }

    /// Whether ranks also make connections with stamps. See [`Planned::STAMPS`].
    ///
    /// # Errors
    /// There is no such experiment.
    pub fn stamps(&self) -> Result<bool, Stop> {
        Ok(self.row()?.stamps)
    }

    fn row(&self) -> Result<&'static Row, Stop> {
        LIST.iter().find(|row| row.name == self.name).ok_or_else(|| {
            let all: Vec<&str> = LIST.iter().map(|row| row.name).collect();
            let why = format!("there is no such experiment; there are {}", all.join(", "));
            Stop::Plan { name: self.name.clone(), why }
        })
    }

    /// The plan, as that of this experiment.
    ///
    /// # Errors
    /// The plan belongs to another experiment.
    pub fn plan<P: Planned>(&self) -> Result<P, Stop> {
        P::deserialize(&self.plan)
            .map_err(|error| Stop::Plan { name: self.name.clone(), why: error.to_string() })
    }
}

/// Declares the file of each experiment, and makes the list in which tasks are looked up.
macro_rules! experiments {
    ($($file:ident::$Plan:ident),* $(,)?) => {
        $(pub mod $file;)*
        const LIST: &[task::Row] = &[$(task::Row::of::<$file::$Plan>()),*];

        /// A short task of each experiment.
        #[cfg(test)]
        fn short_tasks(asked: &plan::Asked) -> Vec<task::Task> {
            vec![$(task::Task::of(&<$file::$Plan as planned::Planned>::short(asked)).unwrap()),*]
        }
    };
}
pub(crate) use experiments;

#[cfg(test)]
mod tests;
