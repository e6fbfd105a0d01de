//! Helpers for endpoints that forward most calls to an endpoint below.

/// In an `impl` of [`Endpoint`](bandgap_comm::Endpoint): forwards everything but requests, progress
/// and signals to the endpoint in this field. Without signals, barriers are made of requests.
#[macro_export]
macro_rules! delegate_endpoint {
    ($below:ident) => {
        fn rank(&self) -> $crate::comm::Rank {
            self.$below.rank()
        }

        fn size(&self) -> usize {
            self.$below.size()
        }

        fn capacity(&self) -> usize {
            self.$below.capacity()
        }

        fn tended(&self) -> bool {
            self.$below.tended()
        }

        fn outstanding(&self) -> usize {
            self.$below.outstanding()
        }

        fn unsent(&self) -> usize {
            self.$below.unsent()
        }

        fn block(&mut self, timeout: std::time::Duration) -> Result<(), $crate::comm::CommError> {
            self.$below.block(timeout)
        }
    };
}

/// In an `impl` of [`Bulk`](bandgap_comm::Bulk): forwards access to exposed and private memory to
/// the endpoint in this field.
#[macro_export]
macro_rules! delegate_exposed {
    ($below:ident) => {
        fn exposed(&self) -> usize {
            self.$below.exposed()
        }

        fn read_exposed(&self, at: usize, into: &mut [u8]) -> Result<(), $crate::comm::CommError> {
            self.$below.read_exposed(at, into)
        }

        fn write_exposed(&mut self, at: usize, from: &[u8]) -> Result<(), $crate::comm::CommError> {
            self.$below.write_exposed(at, from)
        }

        fn shares(&self) -> bool {
            self.$below.shares()
        }

        fn read_peer(
            &self,
            peer: $crate::comm::Rank,
            at: usize,
            into: &mut [u8],
        ) -> Result<(), $crate::comm::CommError> {
            self.$below.read_peer(peer, at, into)
        }

        fn single_copy(&self) -> Result<(), &str> {
            self.$below.single_copy()
        }

        fn address(&self, bytes: &[u8]) -> $crate::comm::Word {
            self.$below.address(bytes)
        }

        fn read_private(
            &self,
            peer: $crate::comm::Rank,
            at: $crate::comm::Word,
            into: &mut [u8],
        ) -> Result<(), $crate::comm::CommError> {
            self.$below.read_private(peer, at, into)
        }
    };
}
