//! The message, and gRPC's client and server on sockets that are connected.

use std::convert::Infallible;
use std::future::Future;
use std::io;

use bandgap::transport::{CommError, Frame, MAX_FRAME, Rank};
use bytes::Bytes;
use http::uri::PathAndQuery;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tonic::body::Body;
use tonic::client::Grpc;
use tonic::server::Grpc as Served;
use tonic::transport::server::Connected;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;
use tower::Service;

/// What travels:
/// message Parcel { uint64 number = 1; bytes frame = 2; bytes payload = 3; uint64 at = 4; }
#[derive(Clone, PartialEq, prost::Message)]
pub struct Parcel {
    /// Where the way keeps no order: parcels before, and this one. 0 if there is no frame.
    #[prost(uint64, tag = "1")]
    pub number: u64,
    #[prost(bytes = "bytes", tag = "2")]
    pub frame: Bytes,
    #[prost(bytes = "bytes", tag = "3")]
    pub payload: Bytes,
    /// Offset of these bytes in the frame's payload.
    #[prost(uint64, tag = "4")]
    pub at: u64,
}

impl Parcel {
    pub fn of(frame: &Frame) -> Self {
        let (bytes, len): ([u8; MAX_FRAME], usize) = frame.encode();
        Self { frame: Bytes::copy_from_slice(&bytes[..len]), ..Self::default() }
    }

    pub fn frame(&self, peer: Rank) -> Result<Frame, CommError> {
        let found = Frame::decode(&self.frame).map_err(|error| garbage(peer, error))?;
        found.map(|(frame, _)| frame).ok_or_else(|| garbage(peer, "a frame that ends early"))
    }

    /// Puts the payload where its frame says. Returns whether it is the last of it.
    pub fn put(&self, peer: Rank, frame: &Frame, memory: &mut [u8]) -> Result<bool, CommError> {
        let target = frame.target(memory.len()).map_err(|error| garbage(peer, error))?;
        let rest = memory[target].get_mut(self.at as usize..).unwrap_or_default();
        let Some((room, rest)) = rest.split_at_mut_checked(self.payload.len()) else {
            return Err(garbage(peer, "more bytes than announced"));
        };
        room.copy_from_slice(&self.payload);
        Ok(rest.is_empty())
    }
}

pub type Codec = ProstCodec<Parcel, Parcel>;
pub type Client = Grpc<Channel>;

/// Bytes that may be on their way to a rank. So only the socket holds bytes back: what it has not taken is known.
const WINDOW: u32 = (1 << 31) - 1;

pub fn path() -> PathAndQuery {
    PathAndQuery::from_static("/bandgap.Rank/Call")
}

pub fn garbage(peer: Rank, what: impl ToString) -> CommError {
    CommError::Garbage { peer, what: what.to_string() }
}

pub fn gone(peer: Rank, what: impl std::fmt::Display) -> CommError {
    CommError::PeerGone { peer, detail: format!(": {what}") }
}

pub fn set_up(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> CommError {
    CommError::SetUp(error.into())
}

/// What gRPC runs over.
pub trait Socket: Connected + AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<S: Connected + AsyncRead + AsyncWrite + Send + Unpin + 'static> Socket for S {}

/// A client over a connection.
pub async fn client(socket: impl Socket) -> Result<Client, CommError> {
    let mut socket = Some(TokioIo::new(socket));
    let connect = tower::service_fn(move |_| {
        let socket = socket.take().ok_or_else(|| io::Error::other("the connection has ended"));
        async move { socket }
    });
    let endpoint = Endpoint::from_static("http://rank")
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW);
    let channel = endpoint.connect_with_connector(connect).await.map_err(set_up)?;
    Ok(Grpc::new(channel).max_decoding_message_size(usize::MAX))
}

/// Makes one call.
pub async fn call(client: &mut Client, parcel: Parcel) -> Result<Parcel, Status> {
    client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    let answer = client.unary(Request::new(parcel), path(), Codec::default()).await;
    answer.map(Response::into_inner)
}

/// Serves a connection: calls, each of which `answer` answers.
pub async fn serve_calls<F, A>(socket: impl Socket, answer: F)
where
    F: FnMut(Request<Parcel>) -> A + Clone + Send + 'static,
    A: Future<Output = Result<Response<Parcel>, Status>> + Send + 'static,
{
    let service = tower::service_fn(move |request| {
        let answer = tower::service_fn(answer.clone());
        async move { Ok(served().unary(answer, request).await) }
    });
    serve(socket, service).await;
}

pub fn served() -> Served<Codec> {
    Served::new(Codec::default()).max_decoding_message_size(usize::MAX)
}

/// Serves a connection.
pub async fn serve<H>(socket: impl Socket, service: H)
where
    H: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible>,
    H: Clone + Send + 'static,
    H::Future: Send,
{
    let incoming = tokio_stream::once(Ok::<_, io::Error>(socket));
    let server =
        Server::builder().initial_stream_window_size(WINDOW).initial_connection_window_size(WINDOW);
    // How it ends is seen where it matters: at the connection.
    let _ = server.serve_with_incoming(service, incoming).await;
}
