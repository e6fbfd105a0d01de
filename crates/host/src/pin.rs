//! Pins the calling thread to a core.

use std::io;

use crate::affinity::Mask;
use crate::{HostError, Result, format_cpu_list};

/// Pins the calling thread, and all threads that it starts from now on, to core `cpu`.
///
/// # Errors
/// [`HostError::CpuUnusable`] if the core is not online or not allowed, [`HostError::System`] if the kernel refuses for
/// another reason.
pub fn pin(cpu: usize) -> Result<()> {
    Mask::of(&[cpu]).set().map_err(|error| refused(cpu, error))
}

fn refused(cpu: usize, error: io::Error) -> HostError {
    match error.raw_os_error() {
        Some(libc::EINVAL) => HostError::CpuUnusable {
            cpu,
            problem: "not online, or not allowed",
            allowed: allowed_cpus()
                .map_or_else(|_| "unknown".to_owned(), |all| format_cpu_list(&all)),
        },
        _ => HostError::system("pin a rank to its core (sched_setaffinity)")(error),
    }
}

/// Restricts the calling thread, and all threads and processes that it starts from now on, to these
/// cores.
///
/// # Errors
/// [`HostError::System`] if the kernel refuses: none of them is online and allowed by the control group.
pub fn allow(cpus: &[usize]) -> Result<()> {
    let allowed = Mask::of(cpus).set();
    allowed.map_err(HostError::system("set the allowed cores (sched_setaffinity)"))
}

/// The cores on which the calling thread may run, in ascending order.
///
/// # Errors
/// [`HostError::System`] if the kernel does not say.
pub fn allowed_cpus() -> Result<Vec<usize>> {
    let mask =
        Mask::get().map_err(HostError::system("read the allowed cores (sched_getaffinity)"))?;
    Ok(mask.cpus().collect())
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
            assert_eq!(rustix::thread::sched_getcpu(), last);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_core_beyond_1024_is_asked_for_like_any_other() {
        // Machines have that many. Where there is none, the kernel says so, and no limit of a mask.
        for asked in [8000, 65_536, 1 << 20] {
            let error = pin(asked).unwrap_err();
            assert!(matches!(error, HostError::CpuUnusable { cpu, .. } if cpu == asked), "{error}");
        }
    }

    #[test]
    fn a_refusal_of_the_call_itself_is_no_word_about_the_core() {
        let of = |code| refused(0, io::Error::from_raw_os_error(code));
        assert!(matches!(of(libc::EINVAL), HostError::CpuUnusable { cpu: 0, .. }));
        let HostError::System { source, .. } = of(libc::EPERM) else { panic!() };
        assert_eq!(source.raw_os_error(), Some(libc::EPERM));
    }
}
