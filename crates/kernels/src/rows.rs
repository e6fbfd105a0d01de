//! Kernels as pointers to their programs.

use bandgap_comm::{Am, Comm, CommError, Transfer};

use crate::facts::{ready, unknown};
use crate::verify::batch;
use crate::{
    Failed, Moves, Order, Outcome, OverAm, OverComm, OverTransfer, Places, Refused, Rig, Round,
    Visit, all,
};

/// One kernel on rigs of type `M`: its program, compiled for them.
#[derive(Debug)]
pub struct Row<M> {
    /// The kernel's name in orders.
    pub name: &'static str,
    /// Carries out this rank's part of an order, and verifies what arrived.
    pub run: fn(&mut M, &Order) -> Result<Outcome, Failed>,
}

impl<M> Row<M> {
    /// The row of the kernel that `order` names.
    ///
    /// # Errors
    /// There is none of this name; the error lists those that there are.
    pub fn find(rows: Vec<Self>, order: &Order) -> Result<Self, Refused> {
        let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
        let row = rows.into_iter().find(|row| row.name == order.kernel);
        row.ok_or_else(|| unknown(&order.kernel, names.into_iter()))
    }
}

struct Rows<M>(Vec<Row<M>>);

fn messages<M: Rig + Comm, K: OverComm>() -> Row<M> {
    let run: fn(&mut M, &Order) -> _ = |rig, order| {
        batch(rig, order, |rig, kernel: &K, places, round| kernel.run(rig, places, round))
    };
    Row { name: K::NAME, run }
}

impl<M: Moves + Am + Comm> Visit for Rows<M> {
    fn am<K: OverAm>(&mut self) {
        let run: fn(&mut M, &Order) -> _ =
            |rig, order| batch(rig, order, |rig, kernel: &K, _, round| kernel.run(rig, round));
        self.0.push(Row { name: K::NAME, run });
    }

    fn transfer<K: OverTransfer>(&mut self) {
        let run: fn(&mut M, &Order) -> _ = |rig, order| {
            batch(rig, order, |rig, kernel: &K, _, round| {
                let [one, other] = kernel.timed(rig.size());
                let partner = if rig.rank() == one { other } else { one };
                let rank = rig.rank();
                rig.blocks().begin(round.turn, rank, partner);
                kernel.run(rig, round)
            })
        };
        self.0.push(Row { name: K::NAME, run });
    }

    fn comm<K: OverComm>(&mut self) {
        self.0.push(messages::<M, K>());
    }
}

/// All kernels, on rigs that can run them all.
pub fn rows<M: Moves + Am + Comm>() -> Vec<Row<M>> {
    let mut rows = Rows(Vec::new());
    all(&mut rows);
    rows.0
}

struct MessagesRows<M>(Vec<Row<M>>);

impl<M: Rig + Comm> Visit for MessagesRows<M> {
    fn am<K: OverAm>(&mut self) {}
    fn transfer<K: OverTransfer>(&mut self) {}
    fn comm<K: OverComm>(&mut self) {
        self.0.push(messages::<M, K>());
    }
}

/// The kernels over message passing, on rigs that have no Active Messages.
pub fn messages_rows<M: Rig + Comm>() -> Vec<Row<M>> {
    let mut rows = MessagesRows(Vec::new());
    all(&mut rows);
    rows.0
}

/// One rank's program.
pub type Program<M> = Box<dyn Fn(&mut M) -> Result<(), CommError>>;

/// The program of an order as it is, without verification: for interpreters that have no data, as
/// the simulator's recorder. It is to be run by the ranks that take part.
///
/// # Errors
/// The order cannot be carried out.
pub fn program<M: Am + Transfer + Comm>(order: &Order) -> Result<Program<M>, Refused> {
    struct Find<'a, M> {
        order: &'a Order,
        found: Option<Result<Program<M>, Refused>>,
        names: Vec<&'static str>,
    }

    impl<M> Find<'_, M> {
        fn look<K: crate::Kernel>(
            &mut self,
            run: impl Fn(&K, &mut M, &Places, Round) -> Result<(), CommError> + 'static,
        ) {
            self.names.push(K::NAME);
            if K::NAME == self.order.kernel {
                let round = Round { samples: self.order.samples, turn: 0 };
                self.found = Some(ready(self.order, self.order.ranks).map(|(kernel, places)| {
                    let program: Program<M> =
                        Box::new(move |rank| run(&kernel, rank, &places, round));
                    program
                }));
            }
        }
    }

    impl<M: Am + Transfer + Comm> Visit for Find<'_, M> {
        fn am<K: OverAm>(&mut self) {
            self.look(|kernel: &K, rank, _, round| kernel.run(rank, round));
        }
        fn transfer<K: OverTransfer>(&mut self) {
            self.look(|kernel: &K, rank, _, round| kernel.run(rank, round));
        }
        fn comm<K: OverComm>(&mut self) {
            self.look(|kernel: &K, rank, places, round| kernel.run(rank, places, round));
        }
    }

    let mut find = Find { order, found: None, names: Vec::new() };
    all(&mut find);
    let Find { found, names, .. } = find;
    found.unwrap_or_else(|| Err(unknown(&order.kernel, names.into_iter())))
}
