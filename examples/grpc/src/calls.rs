//! Every request a call: the caller goes on once it has left, a handler runs at the callee, and the answer brings the
//! reply. Stores are calls too.
//!
//! gRPC keeps no order between calls, nor between answers, so parcels have numbers. A frame that completes requests of the
//! peer answers its oldest calls, and travels in the last of these answers. So two ranks that send messages to and fro
//! make one call for both.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use bandgap::transport::{CommError, Frame, FrameKind, Rank};
use tokio::sync::{Notify, mpsc, oneshot};
use tonic::{Response, Status};

use crate::link::{Ready, Way};
use crate::service::{Client, Parcel, call, client, garbage, gone, serve_calls};
use crate::wire::Io;

/// A parcel, and how to answer it if it came in a call.
type Arrived = (Parcel, Option<oneshot::Sender<Parcel>>);

/// Calls to a peer, and those of it.
pub struct Calls {
    client: Client,
    /// What tasks leave for the rank.
    queue: mpsc::UnboundedReceiver<Result<Arrived, Status>>,
    leave: mpsc::UnboundedSender<Result<Arrived, Status>>,
    /// Number of the last parcel sent.
    sent: u64,
    /// Number of the last parcel received in order, and those that overtook others.
    received: u64,
    early: BTreeMap<u64, Arrived>,
    /// Requests of the peer that await completion, and the calls in which they came.
    unanswered: VecDeque<Option<oneshot::Sender<Parcel>>>,
}

impl Calls {
    fn call(&mut self, parcel: Parcel) {
        let (mut client, leave) = (self.client.clone(), self.leave.clone());
        tokio::spawn(async move {
            let answer = call(&mut client, parcel).await;
            // The answer to a store says nothing.
            if answer.as_ref().map_or(true, |parcel| parcel.number > 0) {
                let _ = leave.send(answer.map(|parcel| (parcel, None)));
            }
        });
    }
}

impl Way for Calls {
    const NAME: &'static str = "grpc";
    const MEANING: &'static str = "gRPC (tonic), every request a call";
    const WIRES: usize = 2;

    fn begin(peer: Rank, first: bool, mut wires: Vec<Io>, ready: Ready<Self>) {
        // Each rank calls on one of them.
        let own = wires.remove(usize::from(!first));
        let (leave, queue) = mpsc::unbounded_channel();
        let greeted = Arc::<Notify>::default();
        for served in wires {
            let (leave, greeted) = (leave.clone(), Arc::clone(&greeted));
            tokio::spawn(serve_calls(served, move |request| {
                let (answer, answered) = oneshot::channel();
                let parcel = request.into_inner();
                if parcel.number > 0 {
                    let _ = leave.send(Ok((parcel, Some(answer))));
                } else {
                    greeted.notify_one();
                    let _ = answer.send(parcel);
                }
                async {
                    let answer = answered.await;
                    answer.map(Response::new).map_err(|_| Status::unavailable("the rank has ended"))
                }
            }));
        }
        tokio::spawn(async move {
            let connected = async {
                let mut client = client(own).await?;
                // Once it is answered, both sides know how much the other one takes.
                call(&mut client, Parcel::default()).await.map_err(|status| gone(peer, status))?;
                greeted.notified().await;
                let (early, unanswered) = (BTreeMap::new(), VecDeque::new());
                Ok(Self { client, queue, leave, sent: 0, received: 0, early, unanswered })
            };
            ready.send((peer, connected.await))
        });
    }

    fn send(&mut self, mut parcel: Parcel, frame: &Frame, last: bool) {
        self.sent += 1;
        parcel.number = self.sent;
        let replies = last && matches!(frame.kind, FrameKind::Reply | FrameKind::Got);
        let mut carrier: Option<oneshot::Sender<Parcel>> = None;
        for _ in 0..frame.credits + u16::from(replies) {
            // Who no longer waits for an answer is gone.
            let _ = carrier.take().map(|done| done.send(Parcel::default()));
            carrier = self.unanswered.pop_front().flatten();
        }
        match carrier {
            Some(answer) => drop(answer.send(parcel)),
            None => self.call(parcel),
        }
    }

    fn next(&mut self, peer: Rank) -> Result<Option<(Parcel, Frame)>, CommError> {
        let due = self.received + 1;
        let mut found = self.early.remove(&due);
        while found.is_none() {
            let Ok(arrived) = self.queue.try_recv() else { return Ok(None) };
            let arrived = arrived.map_err(|status| gone(peer, status))?;
            let number = arrived.0.number;
            if number == due {
                found = Some(arrived);
            } else if number < due || self.early.insert(number, arrived).is_some() {
                return Err(garbage(peer, format!("parcel {number} twice")));
            }
        }
        self.received = due;
        let Some((parcel, answer)) = found else { return Ok(None) };
        let frame = parcel.frame(peer)?;
        if matches!(frame.kind, FrameKind::Request | FrameKind::Get) {
            self.unanswered.push_back(answer);
        } else {
            let _ = answer.map(|done| done.send(Parcel::default()));
        }
        Ok(Some((parcel, frame)))
    }
}
