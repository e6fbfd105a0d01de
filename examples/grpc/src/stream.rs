//! All parcels between two ranks on one bidirectional stream.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bandgap::transport::{CommError, Frame, Rank};
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tokio_stream::{Stream as _, StreamExt as _};
use tonic::{Request, Response, Status, Streaming};

use crate::link::{Ready, Way};
use crate::service::{Codec, Parcel, Socket, client, gone, path, serve, served, set_up};
use crate::wire::Io;

/// The ends of a stream to a peer.
pub struct OnStream {
    pub to: mpsc::UnboundedSender<Parcel>,
    pub from: Streaming<Parcel>,
}

/// Calls the peer, and gives both ends of the call.
pub async fn called(socket: impl Socket) -> Result<OnStream, CommError> {
    let mut client = client(socket).await?;
    client.ready().await.map_err(set_up)?;
    let (to, parcels) = mpsc::unbounded_channel();
    let parcels = Request::new(UnboundedReceiverStream::new(parcels));
    let call = client.streaming(parcels, path(), Codec::default());
    Ok(OnStream { to, from: call.await.map_err(set_up)?.into_inner() })
}

/// Serves the peer, and gives both ends of its call.
pub async fn serve_stream(
    socket: impl Socket,
    called: impl Fn(OnStream) + Clone + Send + Sync + 'static,
) {
    let service = tower::service_fn(move |request| {
        let called = called.clone();
        let answer = tower::service_fn(move |request: Request<Streaming<Parcel>>| {
            let (to, parcels) = mpsc::unbounded_channel();
            let parcels = UnboundedReceiverStream::new(parcels);
            called(OnStream { to, from: request.into_inner() });
            async { Ok(Response::new(parcels.map(Ok::<_, Status>))) }
        });
        async move { Ok::<_, Infallible>(served().streaming(answer, request).await) }
    });
    serve(socket, service).await;
}

impl Way for OnStream {
    const NAME: &'static str = "grpc-stream";
    const MEANING: &'static str = "gRPC (tonic), all messages on one stream";
    const WIRES: usize = 1;

    fn begin(peer: Rank, first: bool, wires: Vec<Io>, ready: Ready<Self>) {
        for wire in wires {
            let ready = ready.clone();
            if first {
                tokio::spawn(async move { ready.send((peer, called(wire).await)) });
            } else {
                tokio::spawn(serve_stream(wire, move |ends| drop(ready.send((peer, Ok(ends))))));
            }
        }
    }

    fn send(&mut self, parcel: Parcel, _frame: &Frame, _last: bool) {
        // If the stream has ended, its wire tells.
        let _ = self.to.send(parcel);
    }

    fn next(&mut self, peer: Rank) -> Result<Option<(Parcel, Frame)>, CommError> {
        let mut cx = Context::from_waker(Waker::noop());
        match Pin::new(&mut self.from).poll_next(&mut cx) {
            Poll::Pending => Ok(None),
            Poll::Ready(Some(Ok(parcel))) => parcel.frame(peer).map(|frame| Some((parcel, frame))),
            Poll::Ready(Some(Err(status))) => Err(gone(peer, status)),
            Poll::Ready(None) => Err(gone(peer, "it ended the stream")),
        }
    }
}
