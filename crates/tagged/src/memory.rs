//! Memory that a library reads and writes between calls.

use std::ops::{Deref, DerefMut};

use bandgap_comm::{CommError, ExposedMemory, Part, Result};

use crate::{Kept, Place, Tagged};

/// Memory of this rank from which and to which messages pass. If it is dropped while one is in flight, it is not freed:
/// the library may still use it.
#[derive(Debug)]
pub struct Memory {
    bytes: ExposedMemory,
    under_way: usize,
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.under_way > 0 {
            std::mem::forget(std::mem::take(&mut self.bytes));
        }
    }
}

impl Memory {
    /// Memory of `len` bytes, which are 0.
    pub fn new(len: usize) -> Self {
        Self { bytes: ExposedMemory::new(len), under_way: 0 }
    }

    /// Sets the size. Existing bytes keep their values, new ones are 0.
    ///
    /// # Panics
    /// If a message is in flight.
    pub fn resize(&mut self, len: usize) {
        assert!(self.under_way == 0, "memory changes only while no message is under way");
        self.bytes.resize(len);
    }

    /// Messages in flight.
    #[inline(always)]
    pub fn under_way(&self) -> usize {
        self.under_way
    }

    /// Begins to send `from`.
    ///
    /// # Errors
    /// The part is not in memory, or the library refused.
    #[inline(always)]
    pub fn begin_send<T: Tagged>(
        &mut self,
        by: &T,
        from: Part,
        to: Place<T>,
    ) -> Result<T::Request> {
        let request = by.begin_send(self.kept(from)?, to)?;
        self.under_way += 1;
        Ok(request)
    }

    /// Begins to receive into `into`.
    ///
    /// # Errors
    /// As [`Memory::begin_send`].
    #[inline(always)]
    pub fn begin_recv<T: Tagged>(
        &mut self,
        by: &T,
        into: Part,
        of: Place<T>,
    ) -> Result<T::Request> {
        let request = by.begin_recv(self.kept(into)?, of)?;
        self.under_way += 1;
        Ok(request)
    }

    /// So many messages that were begun here have ended.
    #[inline(always)]
    pub(crate) fn ended(&mut self, messages: usize) {
        self.under_way -= messages;
    }

    /// A call that failed may have left a message in flight, unless the library does not have it.
    #[cold]
    pub(crate) fn failed(&mut self, error: CommError) -> CommError {
        if !matches!(error, CommError::Unavailable { .. }) {
            self.under_way += 1;
        }
        error
    }

    /// The bytes of a part, for a call.
    #[inline(always)]
    pub(crate) fn kept(&mut self, part: Part) -> Result<Kept> {
        part.of_mut(&mut self.bytes).map(Kept::of)
    }
}

impl Deref for Memory {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl DerefMut for Memory {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}
