//! Ctrl-C for the driver itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use crate::SoakError;
use crate::error::Doing;

/// Whether a signal has asked for the end.
#[derive(Clone, Debug, Default)]
pub struct Stopped(Arc<AtomicBool>);

impl Stopped {
    /// Notes signals from now on. A shell that starts the driver in the background lets it ignore some of them, and what
    /// is ignored stays so in every program that it starts; what is noted here is as usual in these.
    ///
    /// # Errors
    /// The system refused.
    pub fn by_signals() -> Result<Self, SoakError> {
        let stopped = Self::default();
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
            let note = signal_hook::flag::register(signal, Arc::clone(&stopped.0));
            note.doing(|| "arrange for signals".to_owned())?;
        }
        Ok(stopped)
    }

    /// Whether one came.
    pub fn is(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
