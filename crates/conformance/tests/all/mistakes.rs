//! An endpoint that breaks a rule does not pass the suite.

use std::panic::catch_unwind;

use crate::inproc::{self, InprocLink};
use bandgap_comm::{
    AnyEndpoint, Begun, Bulk, Credited, Deliver, Endpoint, Message, Posted, Rank, Result, Source,
};
use bandgap_conformance::{Harness, boxed, delegate_endpoint, delegate_exposed};
use bandgap_conformance::{a_store_is_there_before_its_request, requests_arrive_once_and_in_order};

/// Makes a mistake with the eleventh request.
struct Mistaken<const MISTAKE: char> {
    endpoint: Credited<InprocLink>,
    accepted: usize,
    held: Option<Message>,
}

fn mistaken<const MISTAKE: char>(size: usize, exposed: usize) -> Vec<AnyEndpoint> {
    let over = |link: InprocLink| Mistaken::<MISTAKE> {
        endpoint: Credited::new(link.exposing(exposed), 32),
        accepted: 0,
        held: None,
    };
    boxed(inproc::links(size, 256).into_iter().map(over).collect())
}

impl<const MISTAKE: char> Endpoint for Mistaken<MISTAKE> {
    delegate_endpoint! { endpoint }

    fn try_request(&mut self, peer: Rank, message: Message) -> Result<Posted> {
        let mut send = |message| self.endpoint.try_request(peer, message);
        let posted = match (MISTAKE, self.accepted) {
            // An eleventh one that finds no room has no mistake.
            ('2', 10) if send(message)? == Posted::Yes => send(message)?,
            ('0', 10) => Posted::Yes,
            ('x', 10) => {
                self.held = Some(message);
                Posted::Yes
            }
            _ => send(message)?,
        };
        self.accepted += usize::from(posted == Posted::Yes);
        if let (Posted::Yes, 12, Some(held)) = (posted, self.accepted, self.held) {
            self.held = None;
            return self.endpoint.try_request(peer, held);
        }
        Ok(posted)
    }

    fn progress<D: Deliver>(&mut self, deliver: &mut D) -> Result<usize> {
        self.endpoint.progress(deliver)
    }
}

impl<const MISTAKE: char> Bulk for Mistaken<MISTAKE> {
    delegate_exposed! { endpoint }

    fn try_store(
        &mut self,
        peer: Rank,
        into: usize,
        from: Source<'_>,
        done: &mut usize,
    ) -> Result<Posted> {
        match MISTAKE {
            // One byte too far.
            '+' if from.len() > 1 => self.endpoint.try_store(peer, into + 1, from, done),
            _ => self.endpoint.try_store(peer, into, from, done),
        }
    }

    fn try_get(
        &mut self,
        peer: Rank,
        at: usize,
        into: usize,
        len: usize,
        message: Message,
    ) -> Result<Begun> {
        self.endpoint.try_get(peer, at, into, len, message)
    }
}

#[test]
fn each_mistake_is_found() {
    let in_order: fn(&Harness) = requests_arrive_once_and_in_order;
    let stored: fn(&Harness) = a_store_is_there_before_its_request;
    let passes = |property: fn(&Harness), endpoints| {
        catch_unwind(|| property(&Harness::of(endpoints))).is_ok()
    };
    assert!(passes(in_order, mistaken::<' '>) && passes(stored, mistaken::<' '>));
    assert!(!passes(in_order, mistaken::<'2'>), "a request twice");
    assert!(!passes(in_order, mistaken::<'0'>), "a request lost");
    assert!(!passes(in_order, mistaken::<'x'>), "two requests swapped");
    assert!(!passes(stored, mistaken::<'+'>), "a store elsewhere");
}
