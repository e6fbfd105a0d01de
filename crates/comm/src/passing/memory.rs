//! In which memory a rank's messages lie.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{HoldsMail, Passing};
use crate::{Bulk, CommError, ExposedMemory, Watch};

/// The memory that messages come from and go to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Memory {
    /// The process's own, as any caller of a library for message passing has it.
    #[default]
    Private,
    /// A part of memory that the rank owns and its peers map, to read only
    /// ([`Bulk::take_registered`]). So one copy in user space is enough ([`super::Way::Registered`]).
    Registered,
}

impl Memory {
    /// All there are.
    pub const ALL: [Self; 2] = [Self::Private, Self::Registered];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Registered => "registered",
        }
    }

    /// Whether it is [`Memory::Private`].
    pub fn is_private(&self) -> bool {
        *self == Self::Private
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Memory {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|memory| memory.name() == name);
        let names = || Self::ALL.map(Self::name).join(", ");
        found.ok_or_else(|| format!("{name:?} is no memory of messages; possible: {}", names()))
    }
}

impl<E: Bulk, W: Watch, S: HoldsMail> Passing<E, W, S> {
    /// Whether messages of this rank can lie in registered memory ([`Memory::Registered`]).
    ///
    /// # Errors
    /// They cannot, for this reason.
    pub fn registered(&self) -> Result<(), &str> {
        self.am.endpoint().registered()
    }

    /// Gives this rank so many bytes of this memory, which its messages lie in from here on. Those that
    /// were there keep their values, new ones are 0.
    ///
    /// # Errors
    /// [`CommError::NotRegistered`]: there is no registered memory, or too little. Nothing changes.
    ///
    /// # Panics
    /// A send or a receive is under way.
    pub fn lie_in(&mut self, memory: Memory, bytes: usize) -> Result<(), CommError> {
        let mail = self.mail();
        let idle = mail.sends.is_empty() && mail.receives.is_empty();
        assert!(idle, "memory changes only while no message is under way");
        if memory == Memory::Registered {
            self.has_registered(bytes)?;
        }
        if self.lies != memory {
            std::mem::swap(&mut self.memory, &mut self.other);
            self.lies = memory;
        }
        self.memory.resize(bytes);
        Ok(())
    }

    /// Makes sure that so many bytes of registered memory are here.
    fn has_registered(&mut self, bytes: usize) -> Result<(), CommError> {
        self.registered()
            .map_err(|reason| CommError::NotRegistered { reason: reason.to_owned() })?;
        let (endpoint, _) = self.am.parts();
        let taken = endpoint.take_registered();
        let registered = if self.lies.is_private() { &mut self.other } else { &mut self.memory };
        if let Some(taken) = taken {
            *registered = ExposedMemory::lent(taken);
        }
        let room = registered.room();
        if bytes > room {
            let reason = format!("{bytes} bytes are needed, and it has {room}");
            return Err(CommError::NotRegistered { reason });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for memory in Memory::ALL {
            assert_eq!(memory.to_string().parse(), Ok(memory));
        }
        assert!("public".parse::<Memory>().unwrap_err().contains("private, registered"));
    }
}
