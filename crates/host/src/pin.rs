//! Tying the calling thread to a core.

use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

use crate::{HostError, format_cpu_list};

/// Ties the calling thread, and threads it starts from now on, to core `cpu`.
///
/// # Errors
/// [`HostError::CpuUnusable`] when the kernel does not let this process run there.
pub fn pin(cpu: usize) -> Result<(), HostError> {
    let refused = |problem| HostError::CpuUnusable {
        cpu,
        problem,
        allowed: allowed_cpus().map_or_else(|_| "unknown".to_owned(), |all| format_cpu_list(&all)),
    };
    if cpu >= CpuSet::MAX_CPU {
        return Err(refused("beyond the kernel's affinity mask"));
    }
    let mut only = CpuSet::new();
    only.set(cpu);
    sched_setaffinity(None, &only).map_err(|_| refused("not online, or not allowed"))
}

/// The cores on which the calling thread may run, ascending.
///
/// # Errors
/// [`HostError::System`] when the kernel does not tell.
pub fn allowed_cpus() -> Result<Vec<usize>, HostError> {
    let mask = sched_getaffinity(None).map_err(|error| HostError::System {
        operation: "read the allowed cores (sched_getaffinity)",
        source: error.into(),
    })?;
    Ok((0..CpuSet::MAX_CPU).filter(|cpu| mask.is_set(*cpu)).collect())
}

/// The core on which the calling thread runs at this moment.
pub fn current_cpu() -> usize {
    sched_getcpu()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_stays_on_its_core() {
        // A thread of its own: the mask is inherited, and must not leak to other tests.
        std::thread::spawn(|| {
            let last = *allowed_cpus().unwrap().last().unwrap();
            pin(last).unwrap();
            assert_eq!(allowed_cpus().unwrap(), [last]);
            assert_eq!(current_cpu(), last);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_core_that_is_not_there_is_named() {
        let error = pin(1 << 20).unwrap_err();
        assert!(error.to_string().contains("1048576"), "{error}");
    }
}
